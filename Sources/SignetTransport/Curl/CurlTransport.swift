/// HTTPS over libcurl (built on OpenSSL), speaking HTTP/1.1, or HTTP/2 where ``ConnectionConfiguration/version`` says so.
///
/// One event-loop thread carries all requests of a transport; connections are kept for 10 s and used again. The
/// thread starts with the first request and ends after the transport was released, so make one transport for a
/// server and keep it. Nothing blocks on the shared pool of Swift tasks.
///
/// A request goes out at most once: libcurl's own habit of repeating a request when a kept connection turns out
/// dead is stopped, because the server may have read it (RFC 9110 section 9.2.2). See
/// ``ConnectionConfiguration/retries`` for what is repeated.
///
/// TLS 1.2 is limited to ECDHE with AES-GCM or ChaCha20-Poly1305 (RFC 9325 section 4.2), TLS 1.3 to its AES-GCM and
/// ChaCha20-Poly1305 suites. Neither proxies nor certificates are taken from the environment unless configured.
public final class CurlTransport: HTTPTransport {
  private let configuration: ConnectionConfiguration
  private let loop: EventLoop
  private let pause: @Sendable (Duration) async throws(CancellationError) -> Void

  /// Creates a transport; nothing is connected yet.
  ///
  /// - Parameter configuration: How to connect and what to trust.
  /// - Throws: ``TransportFailure/invalidConfiguration(_:)``, or ``TransportFailure/libraryFailure(call:code:)``
  ///   where libcurl is missing what is needed.
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
  ///   - configuration: How to connect and what to trust.
  ///   - systemRootsFolder: Stands in for the system's folder of hashed root certificates.
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

  /// Sends a request and waits for the whole answer; see ``HTTPTransport/send(_:)``.
  ///
  /// - Parameter request: What to send; checked before a connection is made.
  /// - Returns: The final answer.
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
