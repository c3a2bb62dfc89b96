import Signet
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetVault
import Testing

@Suite("Renewal of keys with their own password", .timeLimit(.minutes(10)))
struct KeyRenewalTests {
  private static let all: [Key.Usage: SharedSecretBox] = KeyBench.passwords.mapValues { secret($0) }

  /// The same device, with its server under other policies.
  private func moved(
    _ bench: KeyBench, _ change: (inout ServicePolicy) -> Void
  ) async throws -> (server: InvitingServer, device: Device) {
    let server = try await bench.server.restarted(change)
    return (server, try DeviceFixture(server.transport, folder: bench.fixture.folder).device)
  }

  @Test("passwords that meet the new policies are kept per key")
  func keeps() async throws {
    let bench = try await KeyBench()
    let handler = ScriptedActivation(reply: .abort)
    let renewed = try await bench.device.renew(
      bench.container, password: secret(KeyBench.container), keyPasswords: Self.all, handler: handler)
    #expect(handler.requests.isEmpty && renewed.renewals == 1 && renewed.isConfirmed)
    for key in [nil] + Key.Usage.allCases {
      try await bench.device.verify(KeyBench.right(key), for: renewed, key: key)
    }
    try await bench.sign(
      renewed, by: KeyBench.right(.transactionSigning), session: KeyBench.right(.sessionTransport))
    let code = try await bench.device.oneTimePassword(
      for: renewed, by: KeyBench.right(.oneTimePassword)
    ).code
    #expect(try await bench.accepts(code))
  }

  @Test("each password is required, and a wrong one counts for its key")
  func needsAll() async throws {
    let bench = try await KeyBench()
    let handler = ScriptedActivation(reply: .abort)
    await #expect(throws: SignetError.passwordRequired) {
      try await bench.device.renew(bench.container, keyPasswords: Self.all, handler: handler)
    }
    for key in Key.Usage.allCases {
      var passwords = Self.all
      passwords[key] = nil
      await #expect(throws: SignetError.key(key, .passwordRequired)) {
        try await bench.device.renew(
          bench.container, password: secret(KeyBench.container), keyPasswords: passwords, handler: handler)
      }
      passwords[key] = secret("Wrong 42 tower")
      await #expect(throws: SignetError.key(key, .wrongPassword(remaining: 2))) {
        try await bench.device.renew(
          bench.container, password: secret(KeyBench.container), keyPasswords: passwords, handler: handler)
      }
    }
    #expect(try await bench.device.containers() == [bench.container])
  }

  @Test("a password that a new policy refuses is asked for again by name; policies can be added and removed")
  func newPolicies() async throws {
    let bench = try await KeyBench([.transactionSigning, .sessionTransport])
    let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 40)
    let pin = try PasswordPolicy(minimumLength: 4, maximumLength: 8, letters: .none)
    let (server, device) = try await moved(bench) {
      $0.profile.keys = [.signing: .password(pin, .lock(limit: 5)), .otp: .password(policy, .lock(limit: 3))]
    }
    let handler = ScriptedActivation(
      password: "unused", keyPasswords: [.transactionSigning: "86420", .oneTimePassword: "Codes 42 tower"])
    let renewed = try await device.renew(
      bench.container, password: secret(KeyBench.container), keyPasswords: Self.all, handler: handler)
    #expect(
      handler.requests.map(\.subject) == [.renewedKey(.transactionSigning), .renewedKey(.oneTimePassword)])
    #expect(renewed.keys.map(\.hasOwnProtection) == [true, true, false])
    // The device alone opens the session key again.
    #expect(try await device.pendingTransactions(for: renewed).isEmpty)
    try await device.verify(.password(secret("86420")), for: renewed, key: .transactionSigning)
    await #expect(throws: SignetError.key(.transactionSigning, .wrongPassword(remaining: 4))) {
      try await device.verify(KeyBench.right(.transactionSigning), for: renewed, key: .transactionSigning)
    }
    _ = try await device.oneTimePassword(for: renewed, by: KeyBench.right(.oneTimePassword))
    try await device.verify(KeyBench.right(nil), for: renewed)
    await server.server.stop()
  }

  @Test("an interrupted renewal continues with the session key's new password")
  func goesOn() async throws {
    let policy = ProtectionPolicy.password(
      try PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3))
    let server = try await InvitingServer(.device).restarted { $0.profile.keys = [.session: policy] }
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let first = try await fixture.activate(server.invite(), password: "Session 42 tower")
    let handler = ScriptedActivation(reply: .abort)
    let password: [Key.Usage: SharedSecretBox] = [.sessionTransport: secret("Session 42 tower")]
    transport.cut(.before, at: "/confirm")
    await #expect(throws: SignetError.transport(.unreachable(code: 7))) {
      try await fixture.device.renew(first, keyPasswords: password, handler: handler)
    }
    transport.cut(nil, at: "/confirm")
    await #expect(throws: SignetError.key(.sessionTransport, .passwordRequired)) {
      try await fixture.device.renew(first, handler: handler)
    }
    let renewed = try await fixture.device.renew(first, keyPasswords: password, handler: handler)
    #expect(renewed.renewals == 1)
    #expect(try await fixture.device.containers() == [renewed])
  }
}

@Suite("Silent lock of one key", .timeLimit(.minutes(10)))
struct SilentKeyTests {
  @Test("any PIN gives a code, which only the server can verify; the container's password is independent")
  func codes() async throws {
    let bench = try await KeyBench([.oneTimePassword], otpLock: .silent)
    let wrong = try await bench.code(by: KeyBench.wrong)
    let right = try await bench.code(by: KeyBench.right(.oneTimePassword))
    #expect(wrong != right && wrong.count == right.count)
    #expect(try await !bench.accepts(wrong))
    #expect(try await bench.accepts(right))
    // A silent lock accepts another key's password like any other.
    _ = try await bench.code(by: KeyBench.right(nil))
    try await bench.device.verify(KeyBench.wrong, for: bench.container, key: .oneTimePassword)
    #expect(try await bench.records(of: "user", password: KeyBench.container) == ["signing-key"])
    #expect(try await bench.records(of: "device", password: nil) == ["encryption-key", "session-key"])
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await bench.sign(by: KeyBench.wrong)
    }
    // The container is not silent, so it stores app data.
    try await Session(for: bench.container, on: bench.device).unlock(by: KeyBench.right(nil))
    await #expect(throws: SignetError.vault(.silentDomain("otp"))) {
      try await bench.device.changePassword(
        of: bench.container, key: .oneTimePassword, from: secret("Codes 42 tower"),
        to: secret("Other 42 tower"))
    }
  }

  @Test("a renewal with the correct signing key and wrong PINs gives no proof for guessing, and is counted")
  func renewal() async throws {
    let bench = try await KeyBench([.oneTimePassword], otpLock: .silent)
    let limited = try await bench.server.restarted { $0.codeAttempts = 3 }
    let device = try DeviceFixture(limited.transport, folder: bench.fixture.folder).device
    let handler = ScriptedActivation(reply: .abort)
    func renew(_ pin: String) async throws -> Container {
      try await device.renew(
        bench.container, password: secret(KeyBench.container), keyPasswords: [.oneTimePassword: secret(pin)],
        handler: handler)
    }
    func refused(_ pin: String) async throws {
      let failure = await #expect(throws: SignetError.self) { try await renew(pin) }
      guard case .refused(let problem) = failure, problem.code == .unauthorized else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    let context = limited.server.context
    for number in 0..<3 {
      try await refused("Wrong \(number) tower")
      // Decisions with a valid signature do not reset the count.
      let asked = try await TransactionService(context).create(
        "Pay 1 to Bob", user: UserID("alice"), lifetime: nil, by: .local)
      let transaction = try #require(
        try await device.pendingTransactions(for: bench.container).first { $0.id == asked.id })
      try await device.decide(transaction, .accepted, with: bench.container, by: KeyBench.right(nil))
    }
    try await refused("Codes 42 tower")
    try await CodeService(context).unlock(UserID("alice"), by: .local)
    let renewed = try await renew("Codes 42 tower")
    let code = try await device.oneTimePassword(for: renewed, by: KeyBench.right(.oneTimePassword)).code
    #expect(
      try await CodeService(context).validate(code, user: UserID("alice"), by: .init(.local)).value
        == .accepted)
    #expect(handler.requests.isEmpty)
    await limited.server.stop()
  }

  @Test("a silent lock of the session key is refused, since wrong passwords would not be counted")
  func session() async throws {
    let policy = ProtectionPolicy.password(
      try PasswordPolicy(minimumLength: 4, maximumLength: 40), .silent)
    let keys = #""keys":{"session":\#(JSONValue.object(policy.json).text)},"otp":{"#
    var lies = HostileServer.Lies()
    lies.offer = { Array(String(decoding: $0, as: UTF8.self).replacing(#""otp":{"#, with: keys).utf8) }
    let code = try ActivationCode.made()
    let fixture = try DeviceFixture(HostileServer(code, lies))
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.activate(code, password: "Session 42 tower")
    }
    guard case .unsupportedProfile(.invalid(member: "session", _)) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(try await fixture.isEmpty)
  }
}
