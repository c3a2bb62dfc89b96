import CCurl

/// An HTTPS transport over libcurl (built on OpenSSL), with the version in ``ConnectionConfiguration/version``.
///
/// One event-loop thread carries all requests of a transport; idle connections are kept for 10 s and reused. The thread
/// starts with the first request and ends after the transport is deallocated: create one transport per server and keep it.
/// No call blocks the shared pool of Swift tasks.
///
/// A request is sent at most once. libcurl would repeat a request when a kept connection turns out dead; this is disabled,
/// because the server may have processed it (RFC 9110 section 9.2.2). ``ConnectionConfiguration/retries`` describes the only
/// retries.
///
/// TLS 1.2 is limited to ECDHE with AES-GCM or ChaCha20-Poly1305 (RFC 9325 section 4.2), TLS 1.3 to its AES-GCM and
/// ChaCha20-Poly1305 suites. Proxies and certificates from the environment are ignored unless configured.
public final class CurlTransport: HTTPTransport {
  private let configuration: ConnectionConfiguration
  private let loop: EventLoop
  private let pause: @Sendable (Duration) async throws(CancellationError) -> Void

  /// Creates a transport; connects nothing yet.
  ///
  /// - Parameter configuration: The connection settings and the trusted certificates.
  /// - Throws: ``TransportFailure/invalidConfiguration(_:)``, or ``TransportFailure/libraryFailure(call:code:)`` if libcurl
  ///   lacks a required feature.
  public convenience init(
    _ configuration: ConnectionConfiguration = ConnectionConfiguration()
  ) throws(TransportFailure) {
    try self.init(configuration, systemRootsFolder: nil) { (duration) async throws(CancellationError) in
      do { try await Task.sleep(for: duration) } catch { throw CancellationError() }
    }
  }

  /// Creates a transport for tests.
  ///
  /// - Parameters:
  ///   - configuration: The connection settings and the trusted certificates.
  ///   - systemRootsFolder: Replaces the system's folder of hashed root certificates.
  ///   - pause: Waits between attempts.
  /// - Throws: ``TransportFailure/invalidConfiguration(_:)``.
  package init(
    _ configuration: ConnectionConfiguration, systemRootsFolder: String?,
    pause: @escaping @Sendable (Duration) async throws(CancellationError) -> Void
  ) throws(TransportFailure) {
    try configuration.check()
    try CurlLibrary.start()
    self.configuration = configuration
    self.pause = pause
    loop = EventLoop(TransferSettings(configuration, systemRootsFolder: systemRootsFolder))
  }

  deinit { loop.stop() }

  /// Sends a request and waits for the whole response; see ``HTTPTransport/send(_:)``.
  ///
  /// - Parameter request: The request; it is validated before a connection is made.
  /// - Returns: The final response.
  /// - Throws: ``TransportFailure``.
  public func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let checked = try CheckedRequest(request)
    let clock = ContinuousClock()
    let limit = Duration.seconds(configuration.timeoutSeconds)
    let deadline = configuration.timeoutSeconds == 0 ? nil : clock.now + limit
    var attempt = 0
    while true {
      if Task.isCancelled { throw .cancelled }
      if let deadline, deadline <= clock.now { throw .timedOut }
      let outcome = await loop.exchange(checked, before: deadline)
      guard outcome.mayBeRepeated, attempt < configuration.retries else {
        return try outcome.result.get()
      }
      let wait = Duration.milliseconds(min(100 << attempt, 2000))
      if let deadline, clock.now + wait >= deadline { return try outcome.result.get() }
      do { try await pause(wait) } catch { throw .cancelled }
      attempt += 1
    }
  }
}

enum CurlLibrary {
  /// Initialises libcurl, once per process.
  ///
  /// The corresponding C function is `curl_global_init`. It is never undone: other users of libcurl in the process may still
  /// need it.
  static func start() throws(TransportFailure) {
    guard startResult == CURLE_OK else {
      throw .libraryFailure(call: "curl_global_init", code: startResult.number)
    }
  }

  private static let startResult: CURLcode = signet_curl_global_init()
}

extension CURLcode {
  /// The number of the code, as in `libcurl-errors(3)`.
  var number: Int32 { Int32(bitPattern: rawValue) }
}
