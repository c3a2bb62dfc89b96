import Signet
import SignetCrypto
import SignetJSON
import SignetUAF
import SignetUAFClient
import SignetVault
import Testing

@Suite("UAF ASM requests in JSON")
struct ASMTests {
  private let device: UAFDevice

  init() throws { device = try UAFDevice() }

  private static let challenge = FinalChallenge(
    FinalChallengeParams(
      appID: UAFDevice.appID, challenge: [UInt8](1...32), facetID: UAFDevice.facetID)
  ).text

  private func ask(
    _ call: ASMRequest.Call, _ kind: UAFAuthenticator.Kind? = .pin, token: [UInt8]? = nil,
    of device: UAFDevice? = nil
  ) async throws -> ASMResponse {
    let request = ASMRequest(call, authenticatorIndex: kind.map { UInt16(Self.index($0)) })
    let module = (device ?? self.device).client.module
    return try ASMResponse(
      JSONObject(parsing: await module.process(request.json.bytes, userVerifyToken: token)))
  }

  private static func index(_ kind: UAFAuthenticator.Kind) -> Int {
    UAFAuthenticator.Kind.allCases.firstIndex(of: kind) ?? 99
  }

  private func register(
    _ username: String = "alice", appID: String = UAFDevice.appID, pin: String = UAFDevice.pin
  ) async throws -> KeyID {
    let token = try await device.client.authenticators.enrol(.pin, by: UAFDevice.pin(pin))
    let response = try await ask(
      .register(
        appID: appID, username: username, finalChallenge: Self.challenge, attestationType: .basicSurrogate),
      token: token)
    guard case .assertion(let bytes, scheme: "UAFV1TLV")? = response.payload else {
      throw UAFFailure.protocol(.unknown, "\(response)")
    }
    #expect(response.status == .ok)
    return try RegistrationAssertion(parsing: bytes).data.keyID
  }

  private func token(_ key: KeyID, pin: String = UAFDevice.pin) async throws -> [UInt8] {
    try await device.client.authenticators.verify(key, of: .pin, by: UAFDevice.pin(pin))
  }

  private func authenticate(
    _ keyIDs: [KeyID], appID: String = UAFDevice.appID, token: [UInt8]?, of device: UAFDevice? = nil
  ) async throws -> ASMResponse {
    try await ask(
      .authenticate(appID: appID, keyIDs: keyIDs, finalChallenge: Self.challenge, transactions: []),
      token: token, of: device)
  }

  @Test("GetInfo lists all five authenticators and whether a user is enrolled")
  func info() async throws {
    func list() async throws -> [AuthenticatorInfo] {
      guard case .info(let list)? = try await ask(.getInfo, nil).payload else { return [] }
      return list
    }
    let before = try await list()
    #expect(before.map(\.index) == [0, 1, 2, 3, 4] && before.allSatisfy { $0.asmVersions == [.v1_1] })
    #expect(before.map(\.isUserEnrolled) == [false, false, true, true, true])
    #expect(before.allSatisfy { !$0.isRoaming && !$0.hasSettings && !$0.features.isSecondFactorOnly })
    #expect(
      before.map(\.features.userVerification) == [.passcode, .passcode, .fingerprint, .faceprint, .passcode])
    #expect(before.allSatisfy { $0.features.attestationTypes == [.basicSurrogate] })
    _ = try await register()
    #expect(try await list().map(\.isUserEnrolled) == [true, false, true, true, true])
  }

  @Test("registers, lists, signs and deregisters; several keys are selected by key id")
  func life() async throws {
    #expect(try await ask(.getRegistrations).payload == .registrations([]))
    let alice = try await register()
    let bob = try await register("bob", pin: "161803")
    let elsewhere = try await register(appID: "https://other.example.com/facets")
    guard case .registrations(let list)? = try await ask(.getRegistrations).payload else {
      Issue.record("no registrations")
      return
    }
    #expect(list.count == 2)
    #expect(Set(list.first { $0.appID == UAFDevice.appID }?.keyIDs ?? []) == [alice, bob])
    #expect(list.first { $0.appID != UAFDevice.appID }?.keyIDs == [elsewhere])
    #expect(try await ask(.getRegistrations, .face).payload == .registrations([]))

    let response = try await authenticate([alice, bob], token: token(bob, pin: "161803"))
    guard case .assertion(let bytes, _)? = response.payload else {
      Issue.record("\(response)")
      return
    }
    let assertion = try AuthenticationAssertion(parsing: bytes)
    #expect(assertion.data.keyID == bob && assertion.data.mode == 1 && assertion.data.signCounter == 2)
    #expect(assertion.data.finalChallengeHash == HashFunction.sha256.digest(of: Array(Self.challenge.utf8)))

    #expect(try await ask(.deregister(appID: UAFDevice.appID, keyID: alice)).status == .ok)
    #expect(try await ask(.deregister(appID: UAFDevice.appID, keyID: alice)).status == .ok)
    #expect(try await authenticate([alice], token: nil).status == .keyDisappearedPermanently)
    #expect(try await ask(.deregister(appID: UAFDevice.appID, keyID: nil)).status == .ok)
    guard case .registrations(let rest)? = try await ask(.getRegistrations).payload else {
      Issue.record("another case")
      return
    }
    #expect(rest.map(\.keyIDs) == [[elsewhere]])
  }

  @Test("a key is bound to its application and caller")
  func accessToken() async throws {
    let key = try await register()
    let stranger = try device.opened(facetID: "linux:app-id:org.example.stranger")
    #expect(try await authenticate([key], token: token(key), of: stranger).status == .accessDenied)
    #expect(try await ask(.getRegistrations, of: stranger).payload == .registrations([]))
    #expect(try await ask(.deregister(appID: UAFDevice.appID, keyID: key), of: stranger).status == .ok)
    #expect(try await ask(.deregister(appID: UAFDevice.appID, keyID: nil), of: stranger).status == .ok)
    #expect(
      try await authenticate([key], appID: "https://other.example.com/facets", token: token(key)).status
        == .keyDisappearedPermanently)
    #expect(try await authenticate([key], token: token(key)).status == .ok)
  }

  @Test("a token works once, for its key and authenticator, and is required")
  func tokens() async throws {
    let key = try await register()
    let other = try await register("bob")
    #expect(try await authenticate([key], token: nil).status == .accessDenied)
    #expect(try await authenticate([key], token: [UInt8](repeating: 0, count: 32)).status == .accessDenied)
    let token = try await token(key)
    #expect(try await authenticate([other], token: token).status == .accessDenied)
    let again = try await self.token(key)
    #expect(try await authenticate([key], token: again).status == .ok)
    #expect(try await authenticate([key], token: again).status == .accessDenied)
    // The verified user selects one of several keys.
    #expect(try await authenticate([key, other], token: nil).status == .accessDenied)
    #expect(try await authenticate([], token: try await self.token(other)).status == .ok)
    let call = ASMRequest.Call.register(
      appID: UAFDevice.appID, username: "carol", finalChallenge: Self.challenge,
      attestationType: .basicSurrogate)
    #expect(try await ask(call, token: nil).status == .accessDenied)
    #expect(try await ask(call, token: try await self.token(key)).status == .accessDenied)
    let enrolled = try await device.client.authenticators.enrol(.pin, by: UAFDevice.pin("2718"))
    #expect(try await ask(call, .password, token: enrolled).status == .accessDenied)
  }

  @Test("pending user verifications are limited; the oldest is dropped")
  func manyTokens() async throws {
    let key = try await register()
    let first = try await token(key)
    for _ in 0..<32 { _ = try await token(key) }
    #expect(try await authenticate([key], token: first).status == .accessDenied)
  }

  @Test("settings and basic attestation are not supported")
  func unsupported() async throws {
    #expect(try await ask(.openSettings).status == .error)
    let token = try await device.client.authenticators.enrol(.pin, by: UAFDevice.pin("2718"))
    let response = try await ask(
      .register(
        appID: UAFDevice.appID, username: "alice", finalChallenge: Self.challenge, attestationType: .basicFull
      ),
      token: token)
    #expect(response.status == .error)
    #expect(try await device.client.keys().isEmpty)
  }

  @Test(
    "malformed ASM requests are refused",
    arguments: [
      "", "[]", "{}", #"{"requestType":"GetInfo"}"#,
      #"{"requestType":"Dance","asmVersion":{"major":1,"minor":1},"authenticatorIndex":0}"#,
      #"{"requestType":"GetInfo","asmVersion":{"major":1,"minor":0}}"#,
      #"{"requestType":"GetInfo","asmVersion":{"major":2,"minor":1}}"#,
      #"{"requestType":"GetRegistrations","asmVersion":{"major":1,"minor":1}}"#,
      #"{"requestType":"GetRegistrations","asmVersion":{"major":1,"minor":1},"authenticatorIndex":5}"#,
      #"{"requestType":"GetRegistrations","asmVersion":{"major":1,"minor":1},"authenticatorIndex":256}"#,
      #"{"requestType":"Register","asmVersion":{"major":1,"minor":1},"authenticatorIndex":0}"#,
      #"{"requestType":"GetInfo","asmVersion":{"major":1,"minor":1},"exts":[{"id":"x","data":"","fail_if_unknown":true}]}"#,
    ])
  func refused(text: String) async throws {
    let answer = await device.client.module.process(Array(text.utf8))
    #expect(try ASMResponse(JSONObject(parsing: answer)) == ASMResponse(.error))
  }

  @Test("a user name too long for a handle is refused")
  func longName() async throws {
    let token = try await device.client.authenticators.enrol(.pin, by: UAFDevice.pin("2718"))
    let response = try await ask(
      .register(
        appID: UAFDevice.appID, username: String(repeating: "é", count: 65), finalChallenge: Self.challenge,
        attestationType: .basicSurrogate), token: token)
    #expect(response.status == .error)
  }
}

@Suite("UAF authenticator commands in TLV")
struct UAFAuthenticatorCommandTests {
  private let device: UAFDevice
  private static let hash = [UInt8](repeating: 7, count: 32)
  private static let access = [UInt8](repeating: 8, count: 32)

  init() throws { device = try UAFDevice() }

  private func ask(_ command: AuthenticatorCommand) async throws -> AuthenticatorAnswer {
    try AuthenticatorAnswer(parsing: await device.client.authenticators.process(command.encoded))
  }

  private func enrolled(_ kind: UAFAuthenticator.Kind = .pin) async throws -> [UInt8] {
    try await device.client.authenticators.enrol(kind, by: UAFDevice.authentication(kind))
  }

  private func registration(
    _ token: [UInt8]?, index: UInt8 = 0, name: String = "alice",
    edit: (inout AuthenticatorCommand.Register) -> Void = { _ in }
  ) -> AuthenticatorCommand {
    var command = AuthenticatorCommand.Register(
      index: index, appID: UAFDevice.appID, finalChallengeHash: Self.hash, userName: name,
      attestationType: .basicSurrogate, accessToken: Self.access, userVerifyToken: token)
    edit(&command)
    return .register(command)
  }

  private func register(_ name: String = "alice") async throws -> (KeyID, handle: [UInt8]) {
    guard
      case .registered(let assertion, let handle) = try await ask(
        registration(try await enrolled(), name: name)
      ).payload
    else { throw UAFFailure.protocol(.unknown, "not registered") }
    return (try RegistrationAssertion(parsing: assertion).data.keyID, handle)
  }

  private func sign(
    _ handles: [[UInt8]], _ token: [UInt8]?, edit: (inout AuthenticatorCommand.Sign) -> Void = { _ in }
  ) -> AuthenticatorCommand {
    var command = AuthenticatorCommand.Sign(
      index: 0, appID: UAFDevice.appID, finalChallengeHash: Self.hash, accessToken: Self.access,
      userVerifyToken: token, keyHandles: handles)
    edit(&command)
    return .sign(command)
  }

  private func verified(_ key: KeyID) async throws -> [UInt8] {
    try await device.client.authenticators.verify(key, of: .pin, by: UAFDevice.authentication(.pin))
  }

  @Test("GetInfo, with flags")
  func info() async throws {
    guard case .info(apiVersion: 1, let list) = try await ask(.getInfo).payload else {
      Issue.record("no info")
      return
    }
    #expect(list.map(\.aaid.text) == ["5167#0001", "5167#0002", "5167#0003", "5167#0004", "5167#0005"])
    let traits: AuthenticatorDescription.Kind = [
      .storesKeyHandles, .expectsAppID, .acceptsUserVerifyTokens, .acceptsTransactionHashOnly,
    ]
    #expect(list[0].kind == traits && list[2].kind == traits.union(.isUserEnrolled))
    #expect(list.allSatisfy { $0.algorithm == .p256DER && $0.assertionScheme == "UAFV1TLV" })
  }

  @Test("a handle is encrypted and authenticated: it shows no name, and a changed byte is refused")
  func handles() async throws {
    let (key, handle) = try await register("alice.of.wonderland")
    #expect(!"\(handle)".contains("\(Array("alice".utf8))".dropFirst().dropLast()))
    let token = try await verified(key)
    for index in stride(from: 0, to: handle.count, by: 7) {
      var changed = handle
      changed[index] ^= 1
      #expect(try await ask(sign([changed], token)).status == .keyDisappearedPermanently)
    }
    guard case .signed(let assertion) = try await ask(sign([handle], token)).payload else {
      Issue.record("not signed")
      return
    }
    #expect(try AuthenticationAssertion(parsing: assertion).data.transactionHash.isEmpty)
  }

  @Test("with several handles the user must choose one")
  func choice() async throws {
    let (alice, first) = try await register()
    let (bob, second) = try await register("bob")
    guard case .choice(let choices) = try await ask(sign([first, second], nil)).payload else {
      Issue.record("no choice")
      return
    }
    #expect(Set(choices.map(\.userName)) == ["alice", "bob"])
    let handle = try #require(choices.first { $0.userName == "bob" }).keyHandle
    #expect(try await ask(sign([handle], try await verified(alice))).status == .accessDenied)
    guard case .signed = try await ask(sign([handle], try await verified(bob))).payload else {
      Issue.record("not signed")
      return
    }
  }

  @Test("a transaction is given as content or as hash, never both")
  func transactions() async throws {
    let (key, handle) = try await register()
    let content = Array("Pay 1".utf8)
    let digest = HashFunction.sha256.digest(of: content)
    for edit: (inout AuthenticatorCommand.Sign) -> Void in [
      { $0.transactionContent = content }, { $0.transactionHash = digest },
    ] {
      guard
        case .signed(let bytes) = try await ask(sign([handle], try await verified(key), edit: edit)).payload
      else {
        Issue.record("not signed")
        continue
      }
      let data = try AuthenticationAssertion(parsing: bytes).data
      #expect(data.mode == 2 && data.transactionHash == digest)
    }
    let both = sign([handle], try await verified(key)) {
      ($0.transactionContent, $0.transactionHash) = (content, digest)
    }
    #expect(try await ask(both).status == .parametersInvalid)
  }

  @Test("access tokens, user verification and key handles are checked")
  func access() async throws {
    let (key, handle) = try await register()
    let token = try await verified(key)
    let foreign = sign([handle], token) { $0.accessToken = [UInt8](repeating: 9, count: 32) }
    #expect(try await ask(foreign).status == .accessDenied)
    #expect(try await ask(sign([handle], nil)).status == .accessDenied)
    #expect(try await ask(sign([[1, 2, 3]], token)).status == .keyDisappearedPermanently)
    // A handle of one model is invalid for another.
    #expect(try await ask(sign([handle], token) { $0.index = 1 }).status == .keyDisappearedPermanently)
    #expect(try await ask(registration(nil)).status == .accessDenied)
    #expect(try await ask(registration(token)).status == .accessDenied)
    let deregister = { (access: [UInt8]) in
      AuthenticatorCommand.deregister(
        .init(index: 0, appID: UAFDevice.appID, keyID: key, accessToken: access))
    }
    #expect(try await ask(deregister([UInt8](repeating: 9, count: 32))).status == .ok)
    guard case .signed = try await ask(sign([handle], try await verified(key))).payload else {
      Issue.record("a stranger has deleted the key")
      return
    }
    #expect(try await ask(deregister(Self.access)).status == .ok)
    #expect(try await ask(sign([handle], nil)).status == .keyDisappearedPermanently)
    #expect(try await ask(.openSettings(index: 0)).status == .commandNotSupported)
    #expect(try await ask(.openSettings(index: 9)).status == .parametersInvalid)
  }

  @Test("malformed registrations are refused")
  func parameters() async throws {
    let edits: [((inout AuthenticatorCommand.Register) -> Void, AuthenticatorStatus)] = [
      ({ $0.index = 5 }, .parametersInvalid), ({ $0.appID = nil }, .parametersInvalid),
      ({ $0.attestationType = .basicFull }, .attestationNotSupported),
      ({ $0.attestationType = .ecdaa }, .attestationNotSupported),
      ({ $0.userName = "" }, .parametersInvalid),
      ({ $0.userName = String(repeating: "n", count: 129) }, .parametersInvalid),
      ({ $0.finalChallengeHash = [1] }, .parametersInvalid), ({ $0.accessToken = [1] }, .parametersInvalid),
      ({ $0.appID = String(repeating: "a", count: 513) }, .parametersInvalid),
    ]
    for (edit, status) in edits {
      #expect(try await ask(registration(try await enrolled(), edit: edit)).status == status)
    }
    #expect(try await device.client.keys().isEmpty)
  }

  @Test("malformed commands are refused")
  func malformed() async throws {
    let authenticators = device.client.authenticators
    for bytes: [UInt8] in [[], [1], [0xFF, 0xFF, 0, 0], [0x01, 0x36, 0, 0]] {
      #expect(await authenticators.process(bytes) == [])
    }
    let good = registration(try await enrolled()).encoded
    for cut in [4, good.count / 2, good.count - 1] {
      let answer = try AuthenticatorAnswer(parsing: await authenticators.process(Array(good.prefix(cut))))
      #expect(answer.command == .register && answer.status == .parametersInvalid)
    }
  }
}
