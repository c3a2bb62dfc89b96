public import SignetHTTP
import SignetJSON
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
  private let upkeep: Upkeep
  private let watch: TransactionWatch
  private let sender: PushSender
  /// The method and the path of each endpoint, the server's domain left out, such as `GET /v1/live`.
  package let endpoints: [String]
  private let notices: NoticeSender?
  /// What is shown at first, PEM; `nil` where there is no TLS.
  let firstCertificateChain: String?
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
    _ context: ServiceContext, transport: ServerConfiguration, certificateEnd: Int64? = nil
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
    notices = NoticeSender(context)
    transactions = TransactionService(context) { sender.announce($0) }
    let router = Self.router(context, watch, transactions)
    let domain = "/\(context.settings.serverURL.domain)"
    endpoints = router.routes.map { route in
      // Those of UAF have a prefix of their own.
      let path =
        route.pattern.hasPrefix(domain + "/") ? route.pattern.dropFirst(domain.count) : route.pattern[...]
      return "\(route.method) \(path)"
    }
    let log = context.log
    let open = OpenEndpoints(domain: domain, uafPrefix: context.uaf?.settings.prefix)
    transport.observer = { request in
      // The path names users and transactions, which are no secrets; bodies and headers stay out.
      let members: KeyValuePairs = [
        "method": request.method, "path": request.path, "status": String(request.status),
        "from": request.remoteAddress,
      ]
      // A failure of the server's own is always written, and so is what is served to somebody who is known.
      let pattern = request.status < 500 ? router.pattern(method: request.method, path: request.path) : nil
      let isAnybodys = request.status < 400 && open.contains(pattern) || (400..<500).contains(request.status)
      guard isAnybodys else { return log.info("request", members) }
      log.sampled("request", of: pattern.map { "\(request.method) \($0)" } ?? "no endpoint", members)
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
    upkeep = Upkeep(context, certificateEnd: certificateEnd)
  }

  /// Binds the address and answers from then on.
  ///
  /// - Returns: The port.
  /// - Throws: `ServerFailure`.
  public func start() throws(ServerFailure) -> UInt16 {
    let port = try http.start()
    upkeep.start()
    notices?.start()
    context.log.info("server.started", ["port": String(port), "version": Self.version])
    return port
  }

  /// Reads the metadata statements of UAF again; where one is none, the log says so and all stay as they were.
  public func readMetadata() {
    guard let uaf = context.uaf else { return }
    do throws(ServerFolderFailure) {
      context.log.info("uaf.metadataRead", ["models": String(try uaf.readMetadata())])
    } catch { context.log.error("uaf.metadataRefused", ["cause": error.description]) }
  }

  /// Goes by other settings and shows another certificate from now on.
  ///
  /// - Parameters:
  ///   - settings: The settings; what they say of the URL and of waiting devices holds from the next start on.
  ///   - identity: The certificate with its key; `nil` where it is the same.
  ///   - end: The last second in which the certificate is valid, since 1970.
  /// - Throws: `ServerFailure`; nothing has changed then.
  func apply(_ settings: ServerSettings, identity: TLSIdentity?, certificateEnd end: Int64)
    throws(ServerFailure)
  {
    if let identity { try http.replaceIdentity(identity) }
    context.apply(settings)
    upkeep.certificateEnds(at: end)
  }

  /// Where the server's events go.
  var log: EventLog { context.log }

  /// How many devices wait for something new.
  package var waitingDeviceCount: Int {
    get async { await watch.waitingCount }
  }

  /// Stops: no new connections, requests in flight finish within `grace`, then the storage closes.
  public func stop(grace: Duration = .seconds(10)) async {
    await watch.stop()  // devices that wait are not to use the grace up
    await http.stop(grace: grace)
    await sender.stop()
    await notices?.stop()
    await upkeep.stop()
    await context.storage.close()
    do { try context.handshakeKeys.end() } catch {
      context.log.error("handshakes.failed", ["cause": "\(error)"])
    }
    context.log.writeLeftOut(isEnd: true)
    context.log.info("server.stopped")
  }

  private typealias Endpoint = @Sendable (ServerRequest) async throws(Problem) -> ServerResponse

  private static func router(
    _ context: ServiceContext, _ watch: TransactionWatch, _ transactions: TransactionService
  ) -> Router {
    let (keys, codes) = (APIKeyService(context), CodeService(context))
    let readiness = Readiness(context)
    let activations = ActivationService(context)
    let device = DeviceEndpoints(
      activations: activations, renewals: RenewalService(context), ends: EndService(context),
      transactions: transactions, authentication: DeviceAuthentication(context),
      targets: PushTargetService(context), watch: watch, context: context)
    let relyingParty = RelyingPartyEndpoints(
      context: context, keys: keys, transactions: transactions)
    let oneTime = CodeEndpoints(keys: keys, codes: codes)
    let tokens = TokenEndpoints(keys: keys, tokens: TokenService(context), codes: codes)
    let admin = AdminEndpoints(
      context: context, keys: keys, users: UserService(context), codes: codes, activations: activations,
      renewals: RenewalService(context))
    let signingKeys = SigningKeyEndpoints(keys: keys, signingKeys: SigningKeyService(context))
    let description = APIDescription.document(for: context.settings.serverURL, context.uaf?.settings)
    let clients = ClientEndpoints(
      context: context, keys: keys, clients: ClientService(context), users: UserService(context))
    let pushAuth = PushAuthRoutes(keys: keys, service: PushAuthService(context))
    let uafAdmin = UAFAdminEndpoints(context: context, keys: keys)
    let accounts = AccountEndpoints(
      accounts: AccountService(context), authentication: DeviceAuthentication(context), keys: keys,
      users: UserService(context))
    let routes: [(String, String, Endpoint)] = [
      ("GET", "/live", { _ in .json(["status": "live", "version": .string(version)]) }),
      ("GET", "/ready", readiness.answer),
      ("GET", "/openapi.json", { _ in .bytes(description, type: "application/json") }),
      ("GET", "/jwks", signingKeys.publish),
      ("POST", "/activation/start", device.start),
      ("POST", "/activation/finish", device.finish),
      ("POST", "/activation/confirm", device.confirm),
      ("POST", "/renewal/start", device.startRenewal),
      ("POST", "/renewal/finish", device.finishRenewal),
      ("POST", "/device/end", device.end),
      ("GET", "/device/transactions/{id}", device.one),
      ("POST", "/device/condition", accounts.condition),
      ("POST", "/device/orders", accounts.receipt),
      ("POST", "/device/initiated", device.initiate),
      ("POST", "/otp/resync", oneTime.resynchronise),
      ("POST", "/otp/verify", oneTime.verify),
      ("POST", "/device/transactions/{id}/cancel", device.cancel),
      ("POST", "/device/push-targets", device.addTarget),
      ("GET", "/device/push-targets", device.listTargets),
      ("PATCH", "/device/push-targets/{id}", device.changeTarget),
      ("DELETE", "/device/push-targets/{id}", device.removeTarget),
      ("POST", "/transactions", relyingParty.create),
      ("GET", "/transactions", relyingParty.initiated),
      ("GET", "/transactions/{id}", relyingParty.find),
      ("GET", "/transactions/{id}/offline", relyingParty.offline),
      ("GET", "/transactions/{id}/typed", relyingParty.typed),
      ("POST", "/transactions/{id}/answer", relyingParty.answer),
      ("DELETE", "/transactions/{id}", relyingParty.withdraw),
      ("POST", "/admin/users", admin.addUser),
      ("GET", "/admin/users", admin.listUsers),
      ("GET", "/admin/users/{user}/containers", admin.listContainers),
      ("POST", "/admin/users/{user}/unlock", admin.unlock),
      ("POST", "/admin/activations", admin.invite),
      ("GET", "/admin/containers/{id}", admin.showContainer),
      ("DELETE", "/admin/containers/{id}", admin.revokeContainer),
      ("POST", "/admin/containers/{id}/renew", admin.askForRenewal),
      ("GET", "/admin/containers/{id}/account", accounts.show),
      ("PUT", "/admin/containers/{id}/policies", accounts.attach),
      ("DELETE", "/admin/containers/{id}/policies", accounts.detach),
      ("POST", "/admin/containers/{id}/lock", accounts.lock),
      ("POST", "/admin/containers/{id}/unlock", accounts.unlock),
      ("POST", "/admin/containers/{id}/wipe", accounts.wipe),
      ("POST", "/admin/keys", admin.addKey),
      ("GET", "/admin/keys", admin.listKeys),
      ("DELETE", "/admin/keys/{id}", admin.revokeKey),
      ("POST", "/admin/tokens", tokens.add),
      ("GET", "/admin/tokens", tokens.list),
      ("DELETE", "/admin/tokens/{serial}", tokens.remove),
      ("POST", "/admin/tokens/{serial}/assign", tokens.assign),
      ("POST", "/admin/tokens/{serial}/disable", tokens.disable),
      ("POST", "/admin/tokens/{serial}/enable", tokens.enable),
      ("POST", "/admin/tokens/{serial}/verify", tokens.verify),
      ("POST", "/admin/tokens/{serial}/resync", tokens.resynchronise),
      ("GET", "/admin/signing-keys", signingKeys.list),
      ("POST", "/admin/signing-keys", signingKeys.rotate),
      ("POST", "/admin/clients", clients.add),
      ("GET", "/admin/clients", clients.list),
      ("GET", "/admin/clients/{id}", clients.show),
      ("DELETE", "/admin/clients/{id}", clients.revoke),
      ("POST", "/admin/users/{user}/code", clients.setCode),
      ("DELETE", "/admin/users/{user}/code", clients.removeCode),
      ("GET", "/admin/transactions", relyingParty.list),
      ("GET", "/admin/audit", admin.audit),
      ("GET", "/admin/uaf/credentials", uafAdmin.listCredentials),
      ("DELETE", "/admin/uaf/credentials/{aaid}/{key}", uafAdmin.removeCredential),
      ("POST", "/admin/uaf/credentials/{aaid}/{key}/release", uafAdmin.releaseCredential),
      ("GET", "/admin/uaf/targets", uafAdmin.listTargets),
      ("DELETE", "/admin/uaf/targets/{id}", uafAdmin.removeTarget),
      ("GET", "/admin/uaf/models", uafAdmin.listModels),
      ("POST", "/admin/pushauth/mechanisms", pushAuth.enrol),
      ("GET", "/admin/pushauth/mechanisms", pushAuth.list),
      ("DELETE", "/admin/pushauth/mechanisms/{id}", pushAuth.remove),
      ("POST", "/pushauth/messages", pushAuth.send),
      ("GET", "/pushauth/messages/{id}", pushAuth.show),
      ("POST", "/pushauth", { request in await pushAuth.service.take(request) }),
    ]
    var router = Router { .problem(Problem($0)) }
    let prefix = "/\(context.settings.serverURL.domain)/v1"
    for (method, pattern, endpoint) in routes {
      router.on(method, prefix + pattern) { request in
        do throws(Problem) { return try await endpoint(request) } catch { return .problem(error) }
      }
    }
    // Those that there are many of at a time do not wait in a task.
    router.on("GET", prefix + "/device/transactions", direct: device.pending)
    router.on("POST", prefix + "/device/transactions/{id}/decision", direct: device.decide)
    router.on("POST", prefix + "/otp/validate", direct: oneTime.validate)
    let openID = OpenIDEndpoints(context, transactions)
    let issuer = "/\(context.settings.serverURL.domain)"
    router.on("GET", issuer + "/.well-known/openid-configuration", openID.discover)
    router.on("POST", issuer + "/oidc/bc-authorize", openID.authorize)
    router.on("POST", issuer + "/oidc/token", openID.token)
    if let uaf = context.uaf { UAFEndpoints(context, uaf, keys, transactions).add(to: &router) }
    return router
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
