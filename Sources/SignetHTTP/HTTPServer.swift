/// Answers a request.
///
/// It runs on a polling thread up to its first suspension, then wherever it resumes:
/// it must not block, and long computations belong on an executor of their own.
///
/// Its task is cancelled when the client has closed the connection (or only its sending side, which looks the
/// same), when ``ServerLimits/handlerDeadline`` has passed, and when the server stops before it is done.
public typealias ServerHandler = @Sendable (ServerRequest) async -> ServerResponse

/// An HTTP/1.1 server over TLS (RFC 9112, RFC 8446), on libmicrohttpd.
///
/// While a handler waits, its connection is suspended and no thread is held. ``stop(grace:)`` has to be called;
/// a server that is dropped without it stops in the background with no grace.
public final class HTTPServer: Sendable {
  private let core: ServerCore

  /// Checks the configuration; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - configuration: Where to listen and what to allow.
  ///   - clock: What its deadlines are measured by, but for ``ServerLimits/idleTimeout``.
  ///   - handler: Answers every request that is well formed and within the limits; ``Router`` makes one.
  /// - Throws: ``ServerFailure`` for an address that is not numeric, plaintext beyond loopback, or a limit that
  ///   is out of range.
  public convenience init(
    _ configuration: HTTPServerConfiguration, clock: any Clock<Duration> = ContinuousClock(),
    handler: @escaping ServerHandler
  ) throws(ServerFailure) {
    try self.init(configuration, clock: clock) { request, responder in
      responder.answer { await handler(request) }
    }
  }

  /// Checks the configuration; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - configuration: Where to listen and what to allow.
  ///   - clock: What its deadlines are measured by, but for ``ServerLimits/idleTimeout``.
  ///   - direct: Answers every request that is well formed and within the limits, without a task of its own.
  /// - Throws: ``ServerFailure`` as ``init(_:handler:)`` does.
  public init(
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

  /// Opens the port and begins to serve.
  ///
  /// - Returns: The port, chosen by the system where the configuration says 0.
  /// - Throws: ``ServerFailure``; after a failure to listen it may be called again, after success it may not.
  @discardableResult
  public func start() throws(ServerFailure) -> UInt16 {
    try core.start()
  }

  /// Shows another certificate to the connections that come from now on; those that are open go on with the one that they have.
  ///
  /// - Parameter identity: The certificate and its key.
  /// - Throws: ``ServerFailure/cannotStart``; nothing has changed then.
  public func replaceIdentity(_ identity: TLSIdentity) throws(ServerFailure) {
    try core.replaceSecurity(.tls(identity))
  }

  /// Stops accepting at once, lets requests that have begun finish, and ends.
  ///
  /// Idle connections are closed; responses from now on say `Connection: close`. Handlers that are not done after
  /// the grace are cancelled, and their clients are told to try again (503). When this returns, the port and
  /// every connection are closed and the threads have ended. May be called any number of times, also at the
  /// same time: all calls return when the server has ended, and the shortest grace counts.
  public func stop(grace: Duration) async {
    await core.stop(grace: grace)
  }
}
