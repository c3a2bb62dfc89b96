import SignetCrypto
import SignetHTTPClient
import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetPush
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// All routes of a server, each tried with every kind of credential that its access distinguishes.
@Suite(.timeLimit(.minutes(10))) struct RouteTableTests {
  @Test("each route refuses missing, invalid and other credentials, and accepts its own")
  func tellsCallersApart() async throws {
    let callers = try await Callers()
    var seen: Set<Access> = []
    var tried = 0
    for endpoint in callers.server.endpoints {
      seen.insert(endpoint.access)
      for (credentials, isAccepted) in [
        (Self.refused(endpoint.access), false), (Self.accepted(endpoint.access), true),
      ] {
        for credential in credentials {
          let response = try await callers.ask(endpoint, with: credential)
          let what = "\(endpoint.id) with \(credential): \(response.status)"
          #expect(try Self.isRefused(response, of: endpoint) == !isAccepted, "\(what)")
          if !isAccepted { try Self.checkRefusal(response, of: endpoint, what) }
          tried += 1
        }
      }
    }
    // All kinds except those for containers in several states, of which there are two.
    #expect(seen.count == 12, "\(seen)")
    #expect(tried > 500)
  }

  // MARK: Who may ask what

  /// The credentials that a kind of access rejects.
  private static func refused(_ access: Access) -> [Caller] {
    switch access {
    case .anybody: []
    case .operatorAddress: [.proxied]
    case .key(let scope):
      [
        .nobody, .malformedKey, .unknownKey, .revokedKey, .key(scope == .admin ? .relyingParty : .admin),
        .device, .client,
      ]
    case .device:
      [
        .nobody, .malformedKey, .key(.admin), .key(.relyingParty), .deviceWithOtherKey,
        .deviceWithOtherRequest, .revokedDevice, .client,
      ]
    case .client:
      [.nobody, .malformedKey, .key(.relyingParty), .clientWithWrongSecret, .revokedClient, .device]
    case .uafAnybody: [.malformedKey, .unknownKey, .revokedKey, .key(.admin), .uafUserOfOtherServer]
    case .uafManager:
      [.nobody, .malformedKey, .unknownKey, .revokedKey, .key(.admin), .uafUserOfOtherServer, .uafDevice]
    case .uafManagerOrDevice:
      [
        .nobody, .malformedKey, .unknownKey, .revokedKey, .key(.admin), .uafUserOfOtherServer,
        .uafDeviceWithOtherKey,
      ]
    case .uafDevice:
      [.nobody, .key(.relyingParty), .uafUser, .uafDeviceWithOtherKey, .otherUAFDevice]
    case .uafDeviceBody: [.nobody, .key(.relyingParty), .uafDeviceWithOtherKey, .otherUAFDevice]
    }
  }

  /// The credentials that a kind of access accepts.
  private static func accepted(_ access: Access) -> [Caller] {
    switch access {
    case .anybody: [.nobody, .unknownKey]
    case .operatorAddress: [.nobody]
    case .key(let scope): [.key(scope)]
    case .device: [.device]
    case .client: [.client]
    case .uafAnybody: [.nobody, .key(.relyingParty), .uafUser]
    case .uafManager: [.key(.relyingParty), .uafUser]
    case .uafManagerOrDevice: [.key(.relyingParty), .uafUser, .uafDevice]
    case .uafDevice, .uafDeviceBody: [.uafDevice]
    }
  }

  /// Returns whether a request was rejected for its caller, by the HTTP status or by the UAF status.
  private static func isRefused(
    _ response: HTTPResponse, of endpoint: EndpointDescription
  ) throws -> Bool {
    switch (endpoint.access, endpoint.dialect) {
    // Proofs in the body, such as signatures and invites, are rejected in the same way.
    case (.anybody, _): false
    case (.operatorAddress, _): response.status == 404
    case (.client, _): [400, 401].contains(response.status) && !isAnswer(response)
    case (_, .uafProtocol) where response.status == 200:
      [UAFStatus.unauthorized, .forbidden].map { Int64($0.rawValue) }
        .contains(try JSONObject(parsing: response.body).integer("statusCode"))
    default: [401, 403].contains(response.status)
    }
  }

  /// Returns whether a client of OpenID Connect got an error about its request rather than about its authentication.
  private static func isAnswer(_ response: HTTPResponse) -> Bool {
    do {
      let code = try JSONObject(parsing: response.body).string("error")
      return !["invalid_client", "invalid_request"].contains(code)
    } catch { return false }
  }

  /// Checks that a rejection has its protocol's form and names the authentication scheme.
  private static func checkRefusal(
    _ response: HTTPResponse, of endpoint: EndpointDescription, _ what: String
  ) throws {
    #expect(response.header("Cache-Control") == "no-store", "\(what)")
    if response.status == 401 { #expect(response.header("WWW-Authenticate")?.isEmpty == false, "\(what)") }
    guard endpoint.dialect == .signet else { return }
    #expect(response.header("Content-Type") == "application/problem+json", "\(what)")
    let problem = try #require(Problem(parsing: response.body), "\(what)")
    #expect([.unauthorized, .forbidden, .containerUnknown, .unknown].contains(problem.code), "\(what)")
    #expect(problem.code.status == response.status, "\(what)")
  }

  // MARK: What operations do

  @Test("the effect of a route fits its access and its method")
  func effects() async throws {
    let server = try await UAFServer(UAFTestKey())
    for endpoint in server.endpoints {
      switch endpoint.effect {
      case .read:
        // The body of these requests has the caller's proof.
        let hasProof = ["uafStatus", "listWaitingPushAuth"].contains(endpoint.id)
        #expect(endpoint.method == .get || hasProof, "\(endpoint.id)")
      case .publish:
        #expect(endpoint.method == .get, "\(endpoint.id)")
        #expect([.anybody, .operatorAddress].contains(endpoint.access), "\(endpoint.id)")
      case .manage: #expect(endpoint.access != .anybody && endpoint.method != .get, "\(endpoint.id)")
      case .grant, .refuse, .attest: #expect(endpoint.method != .get, "\(endpoint.id)")
      }
      // Operators change stored data and never act for a user; devices act for their user and change nothing else.
      if endpoint.access == .key(.admin) {
        #expect([.manage, .read].contains(endpoint.effect), "\(endpoint.id)")
      }
      if case .device = endpoint.access { #expect(endpoint.effect != .manage, "\(endpoint.id)") }
    }
  }

  @Test("a suspended user's device can only deny")
  func suspended() async throws {
    let callers = try await Callers()
    _ = try await UserService(callers.server.context).suspend(UserID("bob"), reason: "", by: .local)
    var tried: [Effect: Int] = [:]
    for endpoint in callers.server.endpoints {
      guard case .device(let states) = endpoint.access, states.contains(.active) else { continue }
      // The signed content selects the kind of decision, which the storage contract covers. A report returns the suspension if
      // there is no order.
      guard !["decide", "reportCondition"].contains(endpoint.id) else { continue }
      let response = try await callers.ask(endpoint, with: .device)
      let isHeld = Problem(parsing: response.body)?.code == .userNotActive
      let mayAsk = endpoint.effect == .refuse
      #expect(isHeld == !mayAsk, "\(endpoint.id): \(response.status)")
      tried[endpoint.effect, default: 0] += 1
    }
    #expect(Set(tried.keys) == [.grant, .refuse, .read])
  }

  @Test("a locked container may refuse, read and report, and is granted nothing")
  func locked() async throws {
    let callers = try await Callers()
    let bodies = try await callers.signedBodies()
    try await callers.lockDevice()
    var tried: [Effect: Int] = [:]
    for endpoint in callers.server.endpoints {
      guard case .device(let states) = endpoint.access, states.contains(.active) else { continue }
      // The signed content selects the kind of decision, which the storage contract covers. An active container is confirmed
      // again; the contract covers one that is not active.
      guard !["decide", "confirmActivation"].contains(endpoint.id) else { continue }
      let response = try await callers.ask(endpoint, with: .device, sending: bodies[endpoint.id])
      let isHeld = Problem(parsing: response.body)?.code == .containerLocked
      #expect(isHeld == (endpoint.effect == .grant), "\(endpoint.id): \(response.status)")
      tried[endpoint.effect, default: 0] += 1
    }
    #expect(Set(tried.keys) == [.grant, .refuse, .attest, .read])
    #expect(tried[.grant] == 5)
  }

  /// The storage steps that make a route's acceptance durable, by the ID of the route in its main spelling.
  private static let grants: [String: Set<String>] = [
    "startActivation": [],
    "finishActivation": ["finishActivation"],
    "confirmActivation": ["claimRequest", "confirmContainer"],
    "startRenewal": ["claimRequest"],
    "finishRenewal": ["claimRequest", "stageRenewal"],
    "decide": ["decideTransaction"],
    "initiate": ["claimRequest", "addInitiated"],
    "addPushTarget": ["claimRequest", "addPushTarget"],
    "changePushTarget": ["claimRequest", "changePushTarget"],
    "validateCode": ["attemptCode"],
    "resynchroniseCodes": ["attemptCode"],
    "verifyToken": ["attemptCode"],
    "answerTransaction": ["answerTransaction"],
    "token": ["issueTokens"],
    "takePushAuth": ["registerPushAuthMechanism", "changePushAuthDevice", "answerPushAuthMessage"],
    "uafRequestRegistration": ["addUAFOperation"],
    "uafRequestAuthentication": ["addUAFOperation"],
    "uafRegistration": ["finishUAFRegistration"],
    "uafAuthentication": ["finishUAFAuthentication"],
    "uafRedeemRegistration": ["redeemUAFToken"],
    "uafRedeemAuthentication": ["redeemUAFToken"],
    "uafRedeemDeregistration": ["redeemUAFToken"],
    "uafAddTarget": ["addUAFTarget"],
    "uafChangeTarget": ["changeUAFTarget"],
    "uafChangeDevice": ["changeUAFTarget"],
    "uafConformanceGet": ["addUAFOperation"],
    "uafConformanceRespond": ["finishUAFRegistration", "finishUAFAuthentication"],
  ]

  /// The steps by which operators and relying parties ask a user, or bind something to an account.
  private static let binding: Set<String> = [
    "addActivation", "addTokens", "assignToken", "setUserCode", "addPushAuthMechanism", "addTransaction",
    "addBackchannelRequest", "tryUserCode",
  ]

  @Test("each granting route names its storage steps, which the contract tests with suspended users")
  func grantingSteps() async throws {
    var seen: Set<String> = []
    for endpoint in try await UAFServer(UAFTestKey()).endpoints where endpoint.effect == .grant {
      let id = endpoint.id.replacing("WithSlash", with: "").replacing("ByOldName", with: "")
      let steps = try #require(Self.grants[id], "\(id) grants, and no step is named that makes it durable")
      #expect(steps.subtracting(StorageContract.gatedStepNames) == [], "\(id)")
      seen.insert(id)
    }
    #expect(Set(Self.grants.keys).subtracting(seen) == [], "routes that are gone")
    let named = Self.grants.values.reduce(into: Self.binding) { $0.formUnion($1) }
    #expect(named.symmetricDifference(StorageContract.gatedStepNames) == [], "steps that no route takes")
  }
}

/// The credentials of a request.
private enum Caller: Hashable {
  case nobody, proxied
  case malformedKey, unknownKey, revokedKey
  case key(APIKeyService.Scope)
  case device, deviceWithOtherKey, deviceWithOtherRequest, revokedDevice
  case client, clientWithWrongSecret, revokedClient
  case uafUser, uafUserOfOtherServer
  case uafDevice, uafDeviceWithOtherKey, otherUAFDevice
}

/// A dispatcher that discards pushes.
private struct SilentWebhook: PushDispatcher {
  let service = PushTarget.Service.webhook

  func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {}
}

/// A server with UAF, and callers of each kind.
private struct Callers {
  let server: UAFServer
  private let keys: [APIKeyService.Scope: String]
  private let revokedKey: String
  private let device: ProtocolDevice
  private let revokedDevice: ProtocolDevice
  /// ID and secret, with a colon between them.
  private let client: String
  private let revokedClient: String
  private let userOfOtherServer: String

  init() async throws {
    server = try await UAFServer(
      [UAFTestKey()], push: PushSetup(delivery: PushDelivery([SilentWebhook()])))
    let context = server.context
    let service = APIKeyService(context)
    var keys: [APIKeyService.Scope: String] = [:]
    for scope in APIKeyService.Scope.allCases {
      keys[scope] = try await service.create(name: scope.rawValue, scopes: [scope], by: .local).text
    }
    self.keys = keys
    let revoked = try await service.create(name: "revoked", scopes: [.relyingParty, .admin], by: .local)
    try await service.revoke(revoked.id, by: .local)
    revokedKey = revoked.text
    device = try await Self.activated("bob", context)
    revokedDevice = try await Self.activated("carol", context)
    try await UserService(context).revokeContainer(#require(revokedDevice.container), by: .local)
    let clients = ClientService(context)
    func registered() async throws -> (id: ID<ClientRecord>, secret: String) {
      let new = try NewClient([
        "name": "shop", "authentication": "client_secret_basic", "delivery": "poll",
      ])
      let made = try await clients.add(ClientRegistration(new), by: .local)
      return (made.record.id, try #require(made.secret))
    }
    let (own, ended) = (try await registered(), try await registered())
    try await clients.revoke(ended.id, by: .local)
    (client, revokedClient) = ("\(own.id):\(own.secret)", "\(ended.id):\(ended.secret)")
    userOfOtherServer = try await Self.token(UAFServer(UAFTestKey()))
  }

  private static func activated(_ name: String, _ context: ServiceContext) async throws -> ProtocolDevice {
    try await UserService(context).add(UserID(name), by: .local)
    let invited = try await ActivationService(context).invite(UserID(name), lifetime: nil, by: .local)
    var device = ProtocolDevice(code: invited.code)
    try await device.activate(context)
    return device
  }

  /// Alice's token from a registration, valid until the key is removed.
  private static func token(_ server: UAFServer) async throws -> String {
    guard case .object(let token)? = try await server.register(UAFTestKey()).array("additionalTokens").first
    else {
      throw JSONFailure.missingMember("additionalTokens")
    }
    return try token.string("value")
  }

  /// The container's bodies for routes whose example is not sufficient, by the ID of the route.
  func signedBodies() async throws -> [String: [UInt8]] {
    let (id, now) = (try #require(device.container), server.clock.now)
    let request = TransactionRequest(
      id: TransactionID("own-1"), content: try TransactionContent(.text("Block my card"), from: .device),
      created: now, expires: now + 300)
    let core = RenewalCore(
      container: id, user: device.user, server: device.server,
      agreement: P256.KeyAgreement.PrivateKey().publicKey, keys: device.publicKeys,
      device: try DeviceDescription(id: device.id, name: "", platform: "linux", keystore: .software))
    let message = try await core.signed(for: device.signing.publicKey, by: device.signing.signature(for:))
    return [
      "startRenewal": RenewalStart(container: id, random: SystemRandomSource()).bytes,
      "finishRenewal":
        RenewalFinish(
          handshake: "none", message: message, proof: [UInt8](repeating: 0, count: 32), possession: message
        ).bytes,
      "initiate": try await device.decision(.accepted, request, at: now),
    ]
  }

  /// Locks the device of the container.
  func lockDevice() async throws {
    let held = try #require(try await server.storage.devices(user: "bob").first)
    _ = try await DeviceService(server.context).lock(held.id, reason: "", by: .local)
  }

  /// Sends a request of an endpoint, with the body of its example or another one.
  ///
  /// Each time has new UAF users and devices, because some requests remove them.
  func ask(
    _ endpoint: EndpointDescription, with caller: Caller, sending own: [UInt8]? = nil
  ) async throws -> HTTPResponse {
    var values: [PathParameter: String] = [:]
    for parameter in endpoint.parameters { values[parameter] = "none" }
    var body = try own ?? Self.body(of: endpoint)
    var headers: [(String, String)] = endpoint.request.mediaType.map { [("Content-Type", $0)] } ?? []
    if let signed = try await signedByUAFDevice(caller, &values) {
      if endpoint.access == .uafDeviceBody {
        body = Array(signed.utf8)
      } else {
        headers.append(("Device-Signature", signed))
      }
    }
    var path = endpoint.path(uaf: server.context.uaf?.settings.prefix ?? "")
    for (parameter, value) in values { path = path.replacing("{\(parameter.rawValue)}", with: value) }
    if endpoint.base != .uaf { path = "/main" + path }
    headers += try await self.headers(caller, endpoint.method.rawValue, path, body)
    let method = try #require(HTTPMethod(rawValue: endpoint.method.rawValue))
    return try await server.send(method, "/" + path, body, headers)
  }

  private static func body(of endpoint: EndpointDescription) throws -> [UInt8] {
    guard let type = endpoint.request.mediaType, type != "application/jose" else { return [] }
    let example = endpoint.request.example ?? [:]
    guard type == "application/x-www-form-urlencoded" else { return example.bytes }
    return Array(
      OpenIDFixture.form(
        try example.members.map { name, _ in (name, try example.string(name)) }
      ).utf8)
  }

  private func headers(
    _ caller: Caller, _ method: String, _ path: String, _ body: [UInt8]
  ) async throws -> [(String, String)] {
    func signed(_ device: ProtocolDevice, _ body: [UInt8]) async throws -> String {
      try await device.authorization(method, path, body, at: server.clock.now)
    }
    let authorization: String
    switch caller {
    case .nobody, .uafDevice, .uafDeviceWithOtherKey, .otherUAFDevice: return []
    case .proxied: return [("X-Forwarded-For", "127.0.0.1")]
    case .malformedKey: authorization = "Bearer x"
    case .unknownKey: authorization = "Bearer signet_0_0"
    case .revokedKey: authorization = "Bearer \(revokedKey)"
    case .key(let scope): authorization = "Bearer \(try #require(keys[scope]))"
    case .device: authorization = try await signed(device, body)
    case .deviceWithOtherKey:
      var other = device
      other.session = P256.Signing.PrivateKey()
      authorization = try await signed(other, body)
    case .deviceWithOtherRequest: authorization = try await signed(device, body + [0])
    case .revokedDevice: authorization = try await signed(revokedDevice, body)
    case .client: authorization = Self.basic(client)
    case .clientWithWrongSecret: authorization = Self.basic(client + "x")
    case .revokedClient: authorization = Self.basic(revokedClient)
    case .uafUser: authorization = "Bearer \(try await Self.token(server))"
    case .uafUserOfOtherServer: authorization = "Bearer \(userOfOtherServer)"
    }
    return [("Authorization", authorization)]
  }

  private static func basic(_ text: String) -> String {
    "Basic " + Base64.encode(Array(text.utf8))
  }

  /// The JWS of a UAF device, with values for the path; `nil` for other callers.
  private func signedByUAFDevice(
    _ caller: Caller, _ values: inout [PathParameter: String]
  ) async throws -> String? {
    guard [.uafDevice, .uafDeviceWithOtherKey, .otherUAFDevice].contains(caller) else { return nil }
    for target in try await server.storage.uafTargets(user: "alice") {
      let event = server.context.audit(by: .local)(.uafTargetRemoved(target: target.id))
      _ = try await server.storage.removeUAFTarget(target.id, audit: event)
    }
    let device = try await UAFTestDevice(on: server, device: "d1")
    for parameter in values.keys { values[parameter] = parameter == .device ? "d1" : device.target }
    switch caller {
    case .uafDeviceWithOtherKey: return try device.jws(at: server.clock.now, by: P256.Signing.PrivateKey())
    case .otherUAFDevice:
      return try await UAFTestDevice(on: server, name: "Tablet", device: "d2").jws(at: server.clock.now)
    default: return try device.jws(at: server.clock.now)
    }
  }
}
