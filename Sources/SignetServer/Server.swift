package import SignetHTTPServer
import SignetProtocol
import SignetStorage

/// A running Signet server: the services behind HTTPS.
///
/// Any number of servers may use one storage if they share ``HandshakeKeys``; a process has no other state that the others
/// need.
package final class Server: Sendable {
  /// The version of this build.
  package static let version = "0.1.0"

  private let context: ServiceContext
  private let http: HTTPServer
  private let maintenance: MaintenanceTask
  private let watch: TransactionWatch
  private let sender: PushSender
  package let endpoints: [EndpointDescription]
  private let outbox: OutboxSender?
  /// The certificate chain at the start, PEM; `nil` without TLS.
  package let firstCertificateChain: String?
  /// The transactions of this server, which announces new ones.
  package let transactions: TransactionService

  /// Creates a server without binding its address.
  ///
  /// - Parameters:
  ///   - context: The context of the services. The server closes its storage when it stops.
  ///   - transport: The address, TLS identity and limits.
  ///   - certificateEnd: The last second in which the TLS certificate is valid, since 1970, for a warning before it; `nil`
  ///     for none.
  /// - Throws: `ServerFailure` if HTTP cannot be set up.
  package init(
    _ context: ServiceContext, transport: HTTPServerConfiguration, certificateEnd: Int64? = nil
  ) throws(ServerFailure) {
    self.context = context
    var transport = transport
    transport.refusalResponder = { .problem(Problem($0)) }
    let limits = transport.limits
    // By default, half of the connections are reserved for requests that do not wait.
    let watch = TransactionWatch(
      context, limit: context.settings.waitingCount ?? limits.connectionCount / 2,
      limitPerAddress: context.settings.waitingCountPerAddress ?? limits.connectionCountPerAddress / 2)
    let sender = PushSender(context)
    (self.watch, self.sender) = (watch, sender)
    outbox = OutboxSender(context)
    transactions = TransactionService(context) { sender.announce($0) }
    let authentication = CallerAuthentication(context)
    let routes = Self.routes(context, authentication, watch, transactions)
    endpoints = routes.map(\.endpoint)
    let router = Self.router(routes, context, authentication)
    let log = context.log
    let (domain, prefix) = (context.settings.serverURL.domain, context.uaf?.settings.prefix ?? "")
    // The UAF protocol also refuses with status 200, for any caller.
    let open = Set(
      endpoints.filter { $0.access.isOpen || $0.dialect == .uafProtocol }
        .map { $0.route(of: domain, uaf: prefix) })
    transport.observer = { request in
      // The path names users and transactions, which are not secret; bodies and headers are not logged.
      func members(_ path: String) -> EventLog.Members {
        [
          "method": request.method, "path": path, "status": String(request.status),
          "from": request.remoteAddress,
        ]
      }
      // Anyone can cause failed requests, and requests without an endpoint such as OPTIONS, so their lines are sampled.
      let isOpen = request.pattern.map(open.contains) ?? true
      // Successful requests of authenticated callers are always logged, except in UAF, where refusals look the same.
      guard isOpen || request.status >= 400 else { return log.info("request", members(request.path)) }
      // An unauthenticated caller's path may be as long as a request line.
      log.sampled(
        "request", of: request.pattern.map { "\(request.method) \($0)" } ?? "no endpoint",
        members(String(request.path.prefix(200))))
    }
    transport.refusalObserver = { request in
      log.sampled(
        "http.refused", of: request.reason,
        [
          "status": request.status.map { String($0) } ?? "none", "reason": request.reason,
          "from": request.remoteAddress ?? "unknown",
        ])
    }
    firstCertificateChain =
      if case .tls(let identity) = transport.security { identity.certificateChainPEM } else { nil }
    http = try HTTPServer(transport) { request, responder in router.respond(to: request, by: responder) }
    maintenance = MaintenanceTask(context, certificateEnd: certificateEnd)
  }

  /// Binds the address and serves requests.
  ///
  /// - Returns: The port.
  /// - Throws: `ServerFailure`.
  package func start() throws(ServerFailure) -> UInt16 {
    let port = try http.start()
    maintenance.start()
    outbox?.start()
    context.log.info("server.started", ["port": String(port), "version": Self.version])
    return port
  }

  /// Reads the UAF metadata statements again; if one is invalid, logs this and keeps all models as they were.
  package func readMetadata() {
    guard let uaf = context.uaf else { return }
    do {
      context.log.info("uaf.metadataRead", ["models": String(try uaf.readMetadata())])
    } catch { context.log.error("uaf.metadataRefused", ["cause": "\(error)"]) }
  }

  /// Applies other settings and another certificate.
  ///
  /// - Parameters:
  ///   - settings: The settings; those for the URL and for waiting devices take effect only at the next start.
  ///   - identity: The certificate with its key; `nil` if it is unchanged.
  ///   - end: The last second in which the certificate is valid, since 1970.
  /// - Throws: `ServerFailure`; then nothing has changed.
  package func apply(_ settings: ServicePolicy, identity: TLSIdentity?, certificateEnd end: Int64)
    throws(ServerFailure)
  {
    if let identity { try http.replaceIdentity(identity) }
    context.apply(settings)
    maintenance.certificateEnds(at: end)
  }

  /// The log of the server's events.
  package var log: EventLog { context.log }

  /// The number of requests that wait for a change.
  package var waitingDeviceCount: Int {
    get async { await watch.waitingCount }
  }

  /// Stops the server: accepts no new connections, lets requests finish within `grace`, then closes the storage.
  package func stop(grace: Duration = .seconds(10)) async {
    await watch.stop()  // waiting devices must not use up the grace period
    await http.stop(grace: grace)
    await sender.stop()
    await outbox?.stop()
    await maintenance.stop()
    await context.storage.close()
    do { try context.handshakeKeys.end() } catch {
      context.log.error("handshakes.failed", ["cause": "\(error)"])
    }
    context.log.writeLeftOut(isEnd: true)
    context.log.info("server.stopped")
  }

  private static func router(
    _ routes: [Route], _ context: ServiceContext, _ authentication: CallerAuthentication
  ) -> Router {
    let (domain, prefix) = (context.settings.serverURL.domain, context.uaf?.settings.prefix ?? "")
    var router = Router { .problem(Problem($0)) }
    for route in routes {
      router.on(
        route.endpoint.method.rawValue, route.endpoint.route(of: domain, uaf: prefix),
        route.handler(authentication))
    }
    return router
  }

  static func routes(
    _ context: ServiceContext, _ authentication: CallerAuthentication, _ watch: TransactionWatch,
    _ transactions: TransactionService
  ) -> [Route] {
    let keys = authentication.keys
    let (codes, users) = (CodeService(context), UserService(context))
    let (activations, renewals) = (ActivationService(context), RenewalService(context))
    let device = DeviceEndpoints(
      activations: activations, renewals: renewals, ends: EndService(context),
      transactions: transactions, authentication: authentication.devices,
      targets: PushTargetService(context), watch: watch, context: context)
    let groups = [
      device.routes,
      AccountEndpoints(devices: DeviceManagement(context), users: users).routes,
      CodeEndpoints(keys: keys, codes: codes).routes,
      RelyingPartyEndpoints(context: context, transactions: transactions).routes,
      UserEndpoints(
        users: users, codes: codes, activations: activations, overview: UserOverview(context)
      ).routes,
      ContainerEndpoints(users: users, renewals: renewals).routes,
      DeviceAdminEndpoints(users: users, devices: DeviceService(context)).routes,
      KeyEndpoints(keys: keys).routes,
      TokenEndpoints(tokens: TokenService(context), codes: codes).routes,
      SigningKeyEndpoints(signingKeys: SigningKeyService(context)).routes,
      ClientEndpoints(context: context, clients: ClientService(context)).routes,
      AuditEndpoints(context: context).routes,
      UAFAdminEndpoints(context: context).routes,
      PushAppEndpoints(service: PushAuthService(context), watch: watch).routes,
      OpenIDEndpoints(context, transactions).routes,
      context.uaf.map { UAFEndpoints(context, $0, keys, transactions, watch).routes } ?? [],
    ]
    return ServerEndpoints(context: context, readiness: Readiness(context)).routes(
      beside: groups.flatMap(\.self))
  }
}

extension Problem {
  /// Creates the problem for a request that the HTTP layer refuses.
  init(_ refusal: RequestRefusal) {
    let code: Code =
      switch refusal.status {
      case 404: .unknown
      case 405: .method
      case 411: .lengthRequired
      case 413, 414, 431: .tooLarge
      case 501, 505: .malformed  // the request is at fault
      case 503: .busy
      case 500...599: .serverFailure
      default: .malformed
      }
    self.init(code, refusal.description)
  }
}
