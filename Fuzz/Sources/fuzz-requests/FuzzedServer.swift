import LibFuzzer
import SignetCrypto
@testable import SignetHTTPServer
import SignetJOSE
import SignetJSON
import SignetPolicy
import SignetProtocol
@testable import SignetSQL

// A server in memory is for tests alone.
@testable import SignetServer
@testable import SignetStorage
import SignetSystem
@testable import SignetTestKit
@testable import SignetUAF

/// A server in memory with one of each object that requests name, made anew for each input.
struct FuzzedServer: Sendable {
  /// Requests are made and answered in this second.
  private static let now: Int64 = 1_700_000_000
  /// The key that seals handshakes; no input is sealed with it.
  static let handshakeKey = made("a key") { () throws(CryptoFailure) in
    HandshakeKeys.Key(
      id: [UInt8](1...8), made: now, secret: SharedSecretBox(SecretBytes(copying: [UInt8](1...32))))
  }
  /// The session key of the container `c1` and of the target `t1`.
  private static let session = signingKey(1)
  private static let signing = signingKey(2)
  private static let agreement = made("a key") { () throws(CryptoFailure) in
    try P256.KeyAgreement.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](3...34)))
  }
  private static let url = made("a URL") { () throws(ServerURLFailure) in try ServerURL("a.example/main") }
  private static let user = made("a user") { () throws(WireFailure) in try UserID("alice") }
  private static let container = made("an id") { () throws(WireFailure) in try ContainerID("c1") }

  private static func id<Named>(_ text: String) -> ID<Named> {
    made("an id") { () throws(WireFailure) in try ID(text) }
  }

  private static func signingKey(_ first: UInt8) -> P256.Signing.PrivateKey {
    made("a key") { () throws(CryptoFailure) in
      try P256.Signing.PrivateKey(rawRepresentation: SecretBytes(copying: [UInt8](first...first + 31)))
    }
  }

  let routes: [Route]
  private let context: ServiceContext
  private let authentication: CallerAuthentication
  private let keys: [APIKeyService.Scope: String]
  /// ID and secret, with a colon between them.
  private let client: String

  /// Runs a body with a server, which is removed afterwards.
  static func run<Result: Sendable>(_ work: @escaping @Sendable (FuzzedServer) async -> Result) -> Result {
    waiting {
      let server: FuzzedServer
      do { server = try await FuzzedServer() } catch { fatalError("a server for requests: \(error)") }
      let result = await work(server)
      await server.context.storage.close()
      return result
    }
  }

  private init() async throws {
    let profile = ContainerProfile(protection: .device, totp: .standard)
    let settings = ServicePolicy(
      serverURL: Self.url, pins: [[UInt8](repeating: 1, count: 32)], profile: profile)
    var uaf = UAFSettings(facets: ["ios:bundle-id:a"])
    uaf.hasConformanceAdapter = true
    context = ServiceContext(
      settings: settings, storage: try Storage(over: SQLDatabase(.memory, schema: Storage.schema)),
      masterKey: MasterKey(SecretBytes(copying: [UInt8](repeating: 7, count: MasterKey.byteCount))),
      clock: StoppedClock(now: Self.now), log: Self.log, uaf: UAFSetup(uaf, models: AuthenticatorModels([])),
      derivation: .insecureForTests)
    authentication = CallerAuthentication(context)
    routes = Server.routes(context, authentication, TransactionWatch(context), TransactionService(context))
    try await UserService(context).add(Self.user, by: .local)
    var keys: [APIKeyService.Scope: String] = [:]
    for scope in APIKeyService.Scope.allCases {
      keys[scope] = try await authentication.keys.create(name: scope.rawValue, scopes: [scope], by: .local)
        .text
    }
    self.keys = keys
    let made = try await ClientService(context).add(
      ClientRegistration(
        NewClient(["name": "shop", "authentication": "client_secret_basic", "delivery": "poll"])), by: .local)
    client = "\(made.record.id):\(made.secret ?? "")"
    // An active container implies this signing key: without it the server would report it as missing.
    _ = try await SigningKeyService(context).current()
    try await addContainer(profile)
    try await addTransaction()
    let target = UAFTargetRecord(
      id: Self.id("t1"), user: Self.user, device: "d1", name: "Phone", dispatcher: "link", sealedTarget: nil,
      signatureKey: Self.signing.publicKey.x963Representation,
      encryptionKey: Self.agreement.publicKey.x963Representation, created: Self.now)
    _ = try await context.storage.addUAFTarget(target, limit: 8, audit: Self.event)
  }

  private static let event = AuditRecord(.userAdded(user: user), by: .local, at: now)

  /// Ends the process if the server logs an error.
  private static let log = EventLog(clock: StoppedClock(now: now)) { line in
    if line.contains("\"level\":\"error\"") { fatalError("the server fails: \(line)") }
  }

  private func addContainer(_ profile: ContainerProfile) async throws {
    let (id, code) = (Self.container, ID<CredentialRecord>(of: Self.container))
    let activation = ActivationRecord(
      id: Self.id("a1"), user: Self.user, sealedInviteKey: [1], salt: [UInt8](repeating: 4, count: 16),
      memoryKiB: 19_456, passes: 2, lanes: 1, profile: JSONValue.object(profile.json).bytes,
      created: Self.now, expires: Self.now + 60)
    try await context.storage.addActivation(activation, audit: Self.event)
    let container = ContainerRecord(
      id: id, user: Self.user, activation: activation.id, device: [UInt8](1...16), name: "Laptop",
      platform: "linux", keystore: "software", sessionKey: Self.session.publicKey.x963Representation,
      encryptionKey: Self.agreement.publicKey.x963Representation,
      signingKey: Self.signing.publicKey.x963Representation, profile: JSONValue.object(profile.json).bytes,
      created: Self.now)
    let secret = try context.masterKey.seal(
      SecretBytes(copying: [UInt8](1...32)), for: .otpSecret(credential: code))
    let credential = CredentialRecord(
      id: code, user: Self.user, serial: nil, kind: .totp, algorithm: "SHA256", digits: 6, period: 30,
      sealedSecret: secret, created: Self.now, state: .pending)
    _ = try await context.storage.finishActivation(
      activation.id, container: NewContainer(container, credential), limit: 5, at: Self.now
    ) { _ in Self.event }
    _ = try await context.storage.confirmContainer(
      id, at: Self.now, audit: { _ in Self.event }, lost: { _ in Self.event })
  }

  private func addTransaction() async throws {
    let content = try TransactionContent(.text("Pay 1 € to Jane"), from: .relyingParty("Bank"))
    let transaction = TransactionRecord(
      id: Self.id("x1"), user: Self.user, content: content.json, created: Self.now, expires: Self.now + 300)
    _ = try await context.storage.addTransaction(transaction, key: nil, limits: TransactionLimits()) { _ in
      Self.event
    }
  }

  // MARK: Requests

  /// Returns the request in an input, with valid credentials if the input has none.
  ///
  /// - Returns: The request; `nil` if its path is invalid.
  func request(_ parts: RequestParts, to endpoint: EndpointDescription) async -> ServerRequest? {
    var request = parts.request
    var path = endpoint.route(of: Self.url.domain, uaf: context.uaf?.settings.prefix ?? "")
    for parameter in endpoint.parameters {
      path = path.replacing("{\(parameter.rawValue)}", with: parts.value)
    }
    do throws(RequestRefusal) { request.path = try RequestPath(raw: path) } catch { return nil }
    let segments = RequestParts.path("/" + parts.value).segments
    for parameter in endpoint.parameters { request.parameters[parameter.rawValue] = segments[0] }
    request.method = endpoint.method.rawValue
    if let type = endpoint.request.mediaType, request.headers["Content-Type"] == nil {
      request.headers["Content-Type"] = type
    }
    // A form may have claims in place of a token, and a UAF device signs the claims of the input.
    if let claims = request.headers["Device-Signature"] {
      request.headers["Device-Signature"] = signed(Array(claims.utf8)) ?? claims
    }
    if endpoint.access == .uafDeviceBody, let body = signed(request.body) { request.body = Array(body.utf8) }
    if request.headers["Authorization"] == nil, request.headers["Device-Signature"] == nil {
      request.headers["Authorization"] = await authorization(request, endpoint)
    }
    return request
  }

  private func authorization(_ request: ServerRequest, _ endpoint: EndpointDescription) async -> String? {
    switch endpoint.access {
    case .anybody, .operatorAddress, .uafDevice, .uafDeviceBody: nil
    case .key(let scope): keys[scope].map { "Bearer \($0)" }
    case .uafManager, .uafManagerOrDevice, .uafAnybody: keys[.relyingParty].map { "Bearer \($0)" }
    case .client: "Basic " + Base64.encode(Array(client.utf8))
    case .device:
      await RequestProof(
        method: request.method, path: request.path.raw, body: request.body, time: Self.now,
        random: context.random
      ).authorization(container: Self.container) { message in
        made("a signature") { () throws(CryptoFailure) in try Self.session.signature(for: message) }
      }
    }
  }

  /// Signs claims as the target, after adding its constant claims if they are missing.
  private func signed(_ claims: [UInt8]) -> String? {
    guard var object = accepted({ () throws(JSONFailure) in try JSONObject(parsing: claims) }) else {
      return nil
    }
    let usual: JSONObject = [
      "dispatchTargetId": "t1", "requestId": "r1", "creationTimeInEpochMillis": .integer(Self.now * 1_000),
    ]
    for (name, value) in usual.members where object[name] == nil { object[name] = value }
    return made("a JWS") { () throws(JOSEFailure) in
      try JWS.sign(object.bytes, with: SigningKey(Self.signing))
    }
  }

  /// Returns the response; `nil` if it needs a connection.
  func response(to request: ServerRequest, of endpoint: EndpointDescription) async -> ServerResponse? {
    await routes.first { $0.endpoint.id == endpoint.id }?.response(to: request, authentication)
  }
}

/// A clock that is stopped.
private struct StoppedClock: WallClock {
  let now: Int64
}
