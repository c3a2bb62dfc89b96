import Signet
import SignetCrypto
import SignetJSON
import SignetUAF
import SignetUAFClient
import Testing

/// A key is for the server that requested it: another one cannot use it, even with the same application ID.
@Suite struct UAFServerBindingTests {
  private static let (own, other) = ("https://bank.example/nevisfido", "https://shop.example/nevisfido")
  private let device: UAFDevice
  private let party: UAFParty

  init() throws {
    device = try UAFDevice()
    party = try UAFParty()
  }

  private func register(
    from server: String?, _ username: String = "alice", policy: Policy = UAFParty.anything
  ) async throws -> UAFKey {
    let request = party.registrationRequest(username, policy: policy)
    guard
      case .registration(let registration) = try await device.client.open(request.text, from: server)
    else { throw UAFFailure.protocol(.unknown, "not a registration") }
    let response = try await registration.register([
      UAFEnrolment(
        aaid: try await device.aaid(.pin), authentication: UAFDevice.authentication(.pin))
    ])
    try party.accept(response, to: request)
    try await registration.finish(response, isAccepted: true)
    return try #require(response.keys.first)
  }

  private func authentication(
    from server: String?, _ policy: Policy = UAFParty.anything
  ) async throws -> UAFAuthentication {
    guard
      case .authentication(let authentication) = try await device.client.open(
        party.authenticationRequest(policy: policy).text, from: server)
    else { throw UAFFailure.protocol(.unknown, "not an authentication") }
    return authentication
  }

  @Test("a key signs for its own server only", arguments: [Self.other, nil, Self.own + "/", ""])
  func signs(_ server: String?) async throws {
    let key = try await register(from: Self.own)
    #expect(key.server == Self.own)
    let failure = await uafFailure { _ = try await authentication(from: server) }
    #expect(failure?.clientError == .noSuitableAuthenticator)
    // Not even if the other one names the key.
    let keyID = try #require(Base64URL.decodePadded(key.keyID).flatMap { KeyID($0) })
    let aaid = try #require(AAID(key.aaid))
    let named = await uafFailure {
      _ = try await authentication(
        from: server, Policy(accepted: [[MatchCriteria(aaids: [aaid], keyIDs: [keyID])]]))
    }
    #expect(named?.clientError == .noSuitableAuthenticator)
    let response = try await authentication(from: Self.own).authenticate([
      KeyUnlock(key: key, authentication: UAFDevice.authentication(.pin))
    ])
    #expect(response.keys == [key])
  }

  @Test("a key created without a server signs for none that is named") func unnamed() async throws {
    let key = try await device.register(.pin, with: party)
    #expect(key.server == nil)
    let failure = await uafFailure { _ = try await authentication(from: Self.own) }
    #expect(failure?.clientError == .noSuitableAuthenticator)
    #expect(try await device.authenticate(key, with: party).signCounter == 2)
  }

  @Test("the authenticators refuse to sign for another server") func authenticators()
    async throws
  {
    let key = try await register(from: Self.own)
    let keyID = try #require(Base64URL.decodePadded(key.keyID).flatMap { KeyID($0) })
    func status(_ server: String?) async throws -> Int64 {
      let token = try await device.client.authenticators.verify(
        keyID, of: .pin, by: UAFDevice.authentication(.pin))
      let module = ASM(
        authenticators: device.client.authenticators, callerID: UAFDevice.facetID, server: server)
      let request = ASMRequest(
        .authenticate(appID: key.appID, keyIDs: [keyID], finalChallenge: "final", transactions: []),
        authenticatorIndex: 0)
      let answer = await module.process(request.json.bytes, userVerifyToken: token)
      return try JSONObject(parsing: answer).integer("statusCode")
    }
    #expect(try await status(Self.other) == 2)
    #expect(try await status(nil) == 2)
    #expect(try await status(Self.own) == 0)
  }

  @Test("a server cannot detect another server's keys by disallowing them") func probing() async throws {
    let key = try await register(from: Self.own)
    let keyID = try #require(Base64URL.decodePadded(key.keyID).flatMap { KeyID($0) })
    let aaid = try #require(AAID(key.aaid))
    var policy = UAFParty.anything
    policy.disallowed = [MatchCriteria(aaids: [aaid], keyIDs: [keyID])]
    let made = try await register(from: Self.other, "bob", policy: policy)
    #expect(made.server == Self.other)
    let refused = await uafFailure { _ = try await register(from: Self.own, "bob", policy: policy) }
    #expect(refused?.clientError == .noSuitableAuthenticator)
  }

  @Test("a server cannot remove another server's keys", arguments: ["everything", "model", "key"])
  func removes(_ what: String) async throws {
    let key = try await register(from: Self.own)
    let keyID = try #require(Base64URL.decodePadded(key.keyID).flatMap { KeyID($0) })
    let aaid = try #require(AAID(key.aaid))
    let target: DeregistrationRequest.Target =
      switch what {
      case "everything": .everything
      case "model": .model(aaid)
      default: .key(KeyReference(aaid: aaid, keyID: keyID))
      }
    func remove(_ server: String?) async throws -> [UAFKey] {
      guard
        case .deregistration(let request) = try await device.client.open(
          party.deregistrationRequest([target]).text, from: server)
      else { throw UAFFailure.protocol(.unknown, "not a deregistration") }
      return try await request.deregister()
    }
    #expect(try await remove(Self.other) == [])
    #expect(try await remove(nil) == [])
    #expect(try await device.client.keys() == [key])
    #expect(try await remove(Self.own) == [key])
  }

  @Test("a registration at one server replaces no key of another") func replaces() async throws {
    let key = try await register(from: Self.own)
    let same = try await register(from: Self.other)
    #expect(Set(try await device.client.keys()) == [key, same])
    let next = try await register(from: Self.own)
    #expect(Set(try await device.client.keys()) == [same, next])
  }
}

/// Common PINs are rejected, at registration and at a change.
@Suite struct UAFCommonPINTests {
  private static let common = [
    "000000", "111111", "123456", "654321", "890123", "121212", "123123", "112233", "111222", "123321",
    "159753", "147258", "102030", "1234", "4321", "1111", "1212", "1122", "2580", "1987", "2001", "12345678",
    "10203040", "246802",
  ]
  private static let others = ["271828", "314159", "161803", "4711", "2718", "908172", "58213947"]

  @Test("at registration", arguments: Self.common + Self.others) func enrolment(_ pin: String) async throws {
    let device = try UAFDevice()
    let isCommon = Self.common.contains(pin)
    let failure = await uafFailure {
      _ = try await device.client.authenticators.enrol(.pin, by: UAFDevice.pin(pin))
    }
    let aaid = try await device.aaid(.pin)
    #expect(failure == (isCommon ? .unusableSecret(aaid: aaid, .tooCommon) : nil))
    // The rule does not apply to a password of digits.
    #expect(
      await uafFailure {
        _ = try await device.client.authenticators.enrol(.password, by: UAFDevice.pin(pin))
      } == nil)
  }

  @Test("at a change, without counting an attempt") func change() async throws {
    let device = try UAFDevice()
    let party = try UAFParty()
    let key = try await device.register(.pin, with: party)
    func change(_ pin: String) async -> UAFFailure? {
      await uafFailure {
        try await device.client.changeSecret(
          of: key, from: SharedSecretBox(SecretBytes(text: UAFDevice.pin)),
          to: SharedSecretBox(SecretBytes(text: pin)))
      }
    }
    for pin in Self.common { #expect(await change(pin) == .unusableSecret(aaid: key.aaid, .tooCommon)) }
    #expect(try await device.client.protectionStatus(of: key) == .unlocked)
    #expect(await change("314159") == nil)
  }
}
