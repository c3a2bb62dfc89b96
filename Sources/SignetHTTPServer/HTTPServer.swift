/// A handler of requests.
///
/// It runs on a polling thread up to its first suspension, then wherever it resumes. It must not block, and long
/// computations need an executor of their own.
///
/// Its task is cancelled when the client closes the connection or only its sending side, which looks the same. It is also
/// cancelled when ``ServerLimits/handlerDeadline`` has passed, and when the server stops first.
package typealias ServerHandler = @Sendable (ServerRequest) async -> ServerResponse

/// An HTTP/1.1 server over TLS (RFC 9112, RFC 8446), on libmicrohttpd.
///
/// While a handler waits, its connection is suspended and holds no thread. The owner must call ``stop(grace:)``; otherwise
/// the server stops in the background, without grace, when it is deallocated.
package final class HTTPServer: Sendable {
  private let core: ServerCore

  /// Creates a server and validates its configuration; opens nothing yet.
  ///
  /// - Parameters:
  ///   - configuration: The address, the certificate and the limits.
  ///   - clock: The clock of all deadlines except ``ServerLimits/idleTimeout``.
  ///   - handler: Answers every well-formed request within the limits; ``Router`` makes one.
  /// - Throws: ``ServerFailure`` for an address that is not numeric, plaintext beyond loopback, or a limit out of range.
  package convenience init(
    _ configuration: HTTPServerConfiguration, clock: any Clock<Duration> = ContinuousClock(),
    handler: @escaping ServerHandler
  ) throws(ServerFailure) {
    try self.init(configuration, clock: clock) { request, responder in
      responder.answer { await handler(request) }
    }
  }

  /// Creates a server and validates its configuration; opens nothing yet.
  ///
  /// - Parameters:
  ///   - configuration: The address, the certificate and the limits.
  ///   - clock: The clock of all deadlines except ``ServerLimits/idleTimeout``.
  ///   - direct: Answers every well-formed request within the limits, without a task of its own.
  /// - Throws: ``ServerFailure`` for an address that is not numeric, plaintext beyond loopback, or a limit out of range.
  package init(
    _ configuration: HTTPServerConfiguration, clock: any Clock<Duration> = ContinuousClock(),
    direct: @escaping DirectHandler
  ) throws(ServerFailure) {
    let address = try BindAddress(configuration.address, port: configuration.port)
    if case .insecurePlaintext = configuration.security, !address.isLoopback {
      throw .plaintextBeyondLoopback(configuration.address)
    }
    try configuration.checkRanges()
    core = ServerCore(configuration, clock: clock, handler: direct)
  }

  deinit {
    let core = core
    Task.detached { await core.stop(grace: .zero) }
  }

  /// Opens the port and starts serving.
  ///
  /// - Returns: The port; the system chooses it if the configuration says 0.
  /// - Throws: ``ServerFailure``; after a failure to listen it may be called again, after success it may not.
  @discardableResult
  package func start() throws(ServerFailure) -> UInt16 {
    try core.start()
  }

  /// Replaces the certificate for new connections; open ones keep theirs.
  ///
  /// - Parameter identity: The certificate and its key.
  /// - Throws: ``ServerFailure/cannotStart``; the old certificate then stays in use.
  package func replaceIdentity(_ identity: TLSIdentity) throws(ServerFailure) {
    try core.replaceSecurity(.tls(identity))
  }

  /// Stops accepting connections at once, lets running requests finish, and ends the server.
  ///
  /// Idle connections are closed; later responses say `Connection: close`. Handlers that exceed the grace are cancelled, and
  /// their clients get 503. When this returns, the port and every connection are closed and the threads have ended. It may
  /// be called several times, also concurrently: all calls return when the server has ended, and the shortest grace counts.
  package func stop(grace: Duration) async {
    await core.stop(grace: grace)
  }
}
