public import SignetHTTP
import SignetStorage
import SignetWire

/// A running Signet server: the services behind HTTPS.
///
/// Any number of servers may run on one storage, where they share ``HandshakeKeys``: no other state lives in a process.
public final class Server: Sendable {
  /// The version of this build.
  public static let version = "0.1.0"

  private let context: ServiceContext
  private let http: HTTPServer
  private let maintenance: MaintenanceTask
  private let watch: TransactionWatch
  private let sender: PushSender
  /// What the server answers.
  package let endpoints: [EndpointDescription]
  private let outbox: OutboxSender?
  /// What is shown at first, PEM; `nil` where there is no TLS.
  package let firstCertificateChain: String?
  /// The transactions of this server, which announces new ones.
  package let transactions: TransactionService

  /// Builds a server; nothing is bound yet.
  ///
  /// - Parameters:
  ///   - context: What the services work with. The server closes its storage when it stops.
  ///   - transport: Address, TLS identity and limits.
  ///   - certificateEnd: The last second in which the TLS certificate is valid, since 1970, for a warning before it; `nil` for
  ///     none.
  /// - Throws: `ServerFailure` when HTTP can't be set up.
  public init(
    _ context: ServiceContext, transport: HTTPServerConfiguration, certificateEnd: Int64? = nil
  ) throws(ServerFailure) {
    self.context = context
    var transport = transport
    transport.refusalResponder = { .problem(Problem($0)) }
    let limits = transport.limits
    // Unless the operator says otherwise, half of the connections stay for those who do not wait.
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
    // UAF's protocol refuses with the status 200 as well, whoever asks.
    let open = Set(
      endpoints.filter { $0.access.isOpen || $0.dialect == .uafProtocol }
        .map { $0.route(of: domain, uaf: prefix) })
    transport.observer = { request in
      // The path names users and transactions, which are no secrets; bodies and headers stay out.
      func members(_ path: String) -> EventLog.Members {
        [
          "method": request.method, "path": path, "status": String(request.status),
          "from": request.remoteAddress,
        ]
      }
      // What is answered without an endpoint, as OPTIONS is, is anybody's too; so is what fails, of which strangers cause more.
      let isOpen = request.pattern.map(open.contains) ?? true
      // What is served to somebody who is known is always written, except in UAF's protocol: a refusal looks the same there.
      guard isOpen || request.status >= 400 else { return log.info("request", members(request.path)) }
      // A stranger's path may be as long as a request line.
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

  /// Binds the address and answers from then on.
  ///
  /// - Returns: The port.
  /// - Throws: `ServerFailure`.
  public func start() throws(ServerFailure) -> UInt16 {
    let port = try http.start()
    maintenance.start()
    outbox?.start()
    context.log.info("server.started", ["port": String(port), "version": Self.version])
    return port
  }

  /// Reads the metadata statements of UAF again; where one is none, the log says so and all stay as they were.
  public func readMetadata() {
    guard let uaf = context.uaf else { return }
    do {
      context.log.info("uaf.metadataRead", ["models": String(try uaf.readMetadata())])
    } catch { context.log.error("uaf.metadataRefused", ["cause": "\(error)"]) }
  }

  /// Goes by other settings and shows another certificate from now on.
  ///
  /// - Parameters:
  ///   - settings: The settings; what they say of the URL and of waiting devices holds from the next start on.
  ///   - identity: The certificate with its key; `nil` where it is the same.
  ///   - end: The last second in which the certificate is valid, since 1970.
  /// - Throws: `ServerFailure`; nothing has changed then.
  package func apply(_ settings: ServicePolicy, identity: TLSIdentity?, certificateEnd end: Int64)
    throws(ServerFailure)
  {
    if let identity { try http.replaceIdentity(identity) }
    context.apply(settings)
    maintenance.certificateEnds(at: end)
  }

  /// Where the server's events go.
  package var log: EventLog { context.log }

  /// How many devices wait for something new.
  package var waitingDeviceCount: Int {
    get async { await watch.waitingCount }
  }

  /// Stops: no new connections, requests in flight finish within `grace`, then the storage closes.
  public func stop(grace: Duration = .seconds(10)) async {
    await watch.stop()  // devices that wait are not to use the grace up
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

  /// All routes of a server.
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
  /// A problem for a request that HTTP itself refuses.
  init(_ refusal: RequestRefusal) {
    let code: Code =
      switch refusal.status {
      case 404: .unknown
      case 405: .method
      case 411: .lengthRequired
      case 413, 414, 431: .tooLarge
      case 501, 505: .malformed  // the request is what is wrong
      case 503: .busy
      case 500...599: .serverFailure
      default: .malformed
      }
    self.init(code, refusal.description)
  }
}
