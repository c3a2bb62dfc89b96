import SignetCrypto
import SignetHTTPClient
import SignetJOSE
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetUAF
import Testing
import UAFFixture

/// Requirements in place of UAF policies and combined with them: a key's claim of its model, and attestation.
@Suite(.timeLimit(.minutes(10))) struct UAFRequirementTests {
  /// A key's evidence for its model, which determines the protection of its keys.
  enum Model: CaseIterable, Sendable {
    /// A key that claims Signet's model with keys in a TPM.
    case claimedTPM
    /// A key that claims Signet's model with keys in files.
    case claimedFiles
    /// A key of a hardware model, by certificates.
    case attestedHardware
    /// A key of a software model, by certificates.
    case attestedSoftware

    /// The requirements that it meets.
    var meets: Set<String> {
      switch self {
      case .claimedTPM: ["claimed"]
      case .claimedFiles, .attestedSoftware: []
      case .attestedHardware: ["claimed", "attested"]
      }
    }

    var protection: KeyAssurance {
      switch self {
      case .claimedTPM: .hardwareClaimed
      case .claimedFiles, .attestedSoftware: .software
      case .attestedHardware: .hardwareAttested
      }
    }
  }

  private static let names = ["claimed", "attested"]
  private static let hardware = AAID(vendor: 0x7357, model: 2)
  private static let software = AAID(vendor: 0x7357, model: 3)

  /// A server with a model of each kind, and a key.
  private func started(
    _ model: Model, _ change: (inout UAFSettings) -> Void = { _ in }
  ) async throws -> (UAFServer, UAFTestKey) {
    let clock = VirtualClock()
    let authority = try UAFTestAuthority(at: clock.now)
    var own = [true, false].map { isInHardware in
      var key = UAFTestKey(aaid: UAFAuthenticatorModel.pin.aaid(inHardware: isInHardware), isDER: true)
      key.describe = { $0 = UAFAuthenticatorModel.pin.statement(inHardware: isInHardware) }
      return key
    }
    let root = try authority.root
    let certified = try [(Self.hardware, KeyProtection.hardware), (Self.software, .software)].map {
      aaid, protection in
      var key = UAFTestKey(aaid: aaid)
      key.describe = {
        ($0.keyProtection, $0.attestationTypes) = (protection, [.basicFull])
        $0.attestationRootCertificates = [root]
      }
      key.attester = try authority.attester(at: clock.now)
      return key
    }
    own += certified
    // A root for two models needs certificates that name the model, so each server here has one of them.
    let known = own.filter { $0.aaid != (model == .attestedSoftware ? Self.hardware : Self.software) }
    let server = try await UAFServer(known, clock: clock, change)
    var settings = server.context.settings
    for (name, protection) in [("claimed", KeyAssurance.hardwareClaimed), ("attested", .hardwareAttested)] {
      var requirement = AuthenticationRequirement()
      requirement.keyProtection = protection
      settings.requirements.own[name] = requirement
    }
    server.context.apply(settings)
    let aaid =
      switch model {
      case .claimedTPM: UAFAuthenticatorModel.pin.aaid(inHardware: true)
      case .claimedFiles: UAFAuthenticatorModel.pin.aaid(inHardware: false)
      case .attestedHardware: Self.hardware
      case .attestedSoftware: Self.software
      }
    return (server, try #require(known.first { $0.aaid == aaid }))
  }

  private func context(_ policy: String?, user: String? = "alice") -> String {
    var object = JSONObject()
    if let user { object["username"] = .string(user) }
    if let policy { object["policy"] = .string(policy) }
    return JSONValue.object(object).text
  }

  private func register(
    _ server: UAFServer, _ key: UAFTestKey, _ policy: String? = nil
  ) async throws -> Int64 {
    let request = try await server.registrationRequest(context(policy))
    return try await server.uaf(
      "/uaf/1.1/registration", ["uafResponse": .string(UAFServer.answer(request, key))]
    ).integer("statusCode")
  }

  /// The claims in the JWT of an answer.
  private func claims(_ answer: JSONObject) throws -> JSONObject {
    guard case .object(let token)? = try answer.array("additionalTokens").first else { return [:] }
    return try JSONObject(parsing: JWS(compact: token.string("value")).unverifiedPayload)
  }

  private func lastRefusal(_ server: UAFServer) async throws -> String {
    let event = try #require(try await server.audit().last { $0.contains("uaf.refused") })
    let object = try JSONObject(parsing: Array(event.utf8))
    return try object.string("reason")
  }

  @Test(
    "registration: a key is accepted if it meets the requirement of the request",
    arguments: Model.allCases)
  func registers(_ model: Model) async throws {
    for name in Self.names {
      let (server, key) = try await started(model)
      let isMet = model.meets.contains(name)
      #expect(try await register(server, key, name) == (isMet ? 1200 : 1492), "\(name)")
      let stored = try await server.storage.uafCredentials(user: "alice")
      #expect(stored.count == (isMet ? 1 : 0))
      if let credential = stored.first {
        #expect(credential.modelProof == (model == .attestedHardware ? .attested : .claimed))
        #expect(credential.keyProtection == KeyProtection.hardware.rawValue)
      } else {
        let demand = name == "claimed" ? "a key in hardware" : "a key in attested hardware"
        #expect(
          try await lastRefusal(server) == "the requirement is not met: \(name) needs \(demand)")
      }
    }
  }

  @Test(
    "authentication: an answer is accepted if its key meets the requirement of the request",
    arguments: Model.allCases)
  func authenticates(_ model: Model) async throws {
    let (server, made) = try await started(model)
    var key = made
    #expect(try await register(server, key) == 1200)
    for name in Self.names {
      let isMet = model.meets.contains(name)
      key.signCounter += 1
      // An unnamed user is found by the key, so the requirement is checked with the answer.
      let answer = try await server.authenticate(key, context(name, user: nil))
      #expect(try answer.integer("statusCode") == (isMet ? 1200 : 1492), "\(name)")
      if isMet {
        let claims = try claims(answer)
        #expect(try claims.string("acr") == name && claims.string("signet_policy") == name)
      } else {
        let demand = name == "claimed" ? "a key in hardware" : "a key in attested hardware"
        #expect(
          try await lastRefusal(server) == "the requirement is not met: \(name) needs \(demand)")
      }
      // A named user is asked only for keys that can meet it.
      let asked = try await server.uaf(
        "/uaf/1.1/request/authentication", ["op": "Auth", "context": .string(context(name))])
      #expect(try asked.integer("statusCode") == (isMet ? 1200 : 1404))
    }
    key.signCounter += 1
    let answer = try await server.authenticate(key, context(nil))
    #expect(try claims(answer).string("acr") == "urn:signet:acr:uaf")
  }

  @Test("a software key of surrogate attestation that names 5167#1001 meets no demand for attested hardware")
  func impostor() async throws {
    let (server, made) = try await started(.claimedTPM)
    var key = made
    #expect(key.aaid.text == "5167#1001")
    for name in ["phrh", "attested"] {
      #expect(try await register(server, key, name) == 1492)
    }
    #expect(try await register(server, key, "claimed") == 1200)
    for name in ["phrh", "attested"] {
      key.signCounter += 1
      #expect(try await server.authenticate(key, context(name, user: nil)).integer("statusCode") == 1492)
    }
    #expect(try await lastRefusal(server).hasSuffix("attested needs a key in attested hardware"))
  }

  @Test("an operator's requirement combines with a policy, including the default one")
  func besidePolicies() async throws {
    let (server, key) = try await started(.claimedTPM) { settings in
      settings.policies["tpm"] = Policy(accepted: [
        [MatchCriteria(aaids: [UAFAuthenticatorModel.pin.aaid(inHardware: true)])]
      ])
      settings.requirements = ["default": "attested", "tpm": "claimed"]
    }
    #expect(try await register(server, key) == 1492)
    // Naming a weaker requirement does not weaken the default one.
    #expect(try await register(server, key, "claimed") == 1492)
    #expect(try await register(server, key, "tpm") == 1200)
  }

  @Test(
    "a token is refused if its key does not meet the default policy's requirement"
  )
  func earnsNothing() async throws {
    let (server, made) = try await started(.claimedTPM) { settings in
      settings.policies["any"] = Policy(accepted: [
        [MatchCriteria(aaids: [UAFAuthenticatorModel.pin.aaid(inHardware: true)])]
      ])
      settings.requirements = ["default": "attested"]
    }
    var key = made
    #expect(try await register(server, key, "any") == 1200)
    key.signCounter += 1
    let answer = try await server.authenticate(key, context("any"))
    guard case .object(let token)? = try answer.array("additionalTokens").first else {
      Issue.record("no token: \(answer.text)")
      return
    }
    let asked = try await server.uaf(
      "/uaf/1.1/request/registration", ["op": "Reg", "context": .string(context("any"))],
      [("Authorization", "Bearer \(token.string("value"))")])
    #expect(try asked.integer("statusCode") == 1401)
  }

  @Test("an operation on the user's device resists phishing; a dispatched token does not")
  func resistsPhishing() async throws {
    let (server, made) = try await started(.attestedHardware)
    var key = made
    #expect(try await register(server, key, "phrh") == 1200)
    key.signCounter += 1
    let answer = try await server.authenticate(key, context("phrh"))
    #expect(try claims(answer).string("acr") == "phrh")
    let token = try await server.json(
      "/token/create/authentication", ["op": "Auth", "context": .string(context("phr"))])
    let redeemed = try await server.send(
      .post, "/token/redeem/authentication",
      (["token": .string(try token.string("token"))] as JSONObject).bytes,
      [("Content-Type", "application/json")])
    let request = try AuthenticationRequest(
      parsing: Array(JSONObject(parsing: redeemed.body).string("uafRequest").utf8), versions: [.v1_1])
    key.signCounter += 1
    let taken = try await server.uaf(
      "/uaf/1.1/authentication", ["uafResponse": .string(UAFServer.answer(request, key))])
    #expect(try taken.integer("statusCode") == 1492)
    #expect(try await lastRefusal(server).hasSuffix("phr needs phishing resistance"))
  }

  @Test(
    "hardware protection counts only if the metadata state it at registration and now"
  )
  func followsMetadata() throws {
    func evidence(_ stored: KeyProtection, _ stated: KeyProtection?) throws -> AuthenticationEvidence {
      var credential = UAFCredentialRecord(
        aaid: "5167#1001", keyID: [1], user: "alice", publicKey: [4], algorithm: 1, keyFormat: 0x100,
        signCounter: 0,
        registrationCounter: 0, authenticatorVersion: 1, created: 1)
      (credential.modelProof, credential.keyProtection) = (.attested, stored.rawValue)
      let model = try stated.map { stated in
        var statement = UAFAuthenticatorModel.pin.statement(inHardware: true)
        statement.keyProtection = stated
        return try AuthenticatorModel(statement)
      }
      return AuthenticationEvidence(of: credential, model)
    }
    #expect(try evidence(.hardware, .hardware).keyProtection == .hardwareAttested)
    #expect(try evidence([.hardware, .secureElement], .hardware).keyProtection == .hardwareAttested)
    for (stored, stated) in [
      (.hardware, .software), (.software, .hardware), (.hardware, nil), ([.hardware, .software], .hardware),
      (.hardware, .remoteHandle),
    ] as [(KeyProtection, KeyProtection?)] {
      #expect(
        try evidence(stored, stated).keyProtection == .software, "\(stored) \(String(describing: stated))")
    }
  }

  @Test("factors and user verification are those of the metadata's weakest method")
  func countsFactors() throws {
    func evidence(_ ways: [[UserVerification]]) throws -> String {
      var statement = UAFAuthenticatorModel.pin.statement(inHardware: true)
      statement.userVerificationDetails = ways.map { $0.map { .init($0) } }
      let credential = UAFCredentialRecord(
        aaid: "5167#1001", keyID: [1], user: "alice", publicKey: [4], algorithm: 1, keyFormat: 0x100,
        signCounter: 0,
        registrationCounter: 0, authenticatorVersion: 1, created: 1)
      let evidence = AuthenticationEvidence(of: credential, try AuthenticatorModel(statement))
      return "\(evidence.factors) \(evidence.isUserVerified)"
    }
    #expect(try evidence([[.passcode]]) == "2 true")
    #expect(try evidence([[.passcode, .fingerprint]]) == "3 true")
    #expect(try evidence([[.fingerprint, .faceprint]]) == "2 true")
    #expect(try evidence([[.passcode, .fingerprint], [.pattern]]) == "2 true")
    #expect(try evidence([[.fingerprint], [.presence]]) == "1 false")
    #expect(try evidence([[.location]]) == "1 false")
  }

  @Test("operators see the key protection and its assurance for each key", arguments: Model.allCases)
  func lists(_ model: Model) async throws {
    let (server, key) = try await started(model)
    #expect(try await register(server, key) == 1200)
    let admin = try await APIKeyService(server.context).create(
      name: "Operator", displayName: nil, scopes: [.admin], by: .local
    ).text
    let response = try await server.send(
      .get, "//main/v1/admin/uaf/credentials", [], [("Authorization", "Bearer \(admin)")])
    guard case .object(let credential)? = try JSONObject(parsing: response.body).array("credentials").first
    else {
      Issue.record("no key")
      return
    }
    #expect(try credential.string("keyProtection") == model.protection.rawValue)
    let isAttested = [.attestedHardware, .attestedSoftware].contains(model)
    #expect(try credential.string("attestation") == (isAttested ? "attested" : "claimed"))
  }
}
