import Signet
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetVault
import Testing

@Suite("Keys with their own password", .timeLimit(.minutes(10)))
struct KeyPasswordTests {
  @Test("each key's own password is prompted for once, with its subject")
  func eachItsOwn() async throws {
    let bench = try await KeyBench()
    #expect(
      bench.handler.requests.map(\.subject) == [
        .container, .key(.transactionSigning), .key(.oneTimePassword), .key(.sessionTransport),
      ])
    #expect(bench.container.isConfirmed)
    #expect(bench.container.keys.map(\.usage) == Key.Usage.allCases)
    #expect(bench.container.keys.allSatisfy { $0.hasOwnProtection && $0.protection.passwordPolicy != nil })
    #expect(try await bench.accepts(bench.code(by: KeyBench.right(.oneTimePassword))))
    try await bench.sign(
      by: KeyBench.right(.transactionSigning), session: KeyBench.right(.sessionTransport))
    // The container's password opens the apps' data and none of the keys.
    try await Session(for: bench.container, on: bench.device).unlock(by: KeyBench.right(nil))
    #expect(try await bench.records(of: "user", password: KeyBench.container) == ["app-data-key"])
    for key in Key.Usage.allCases {
      let others: [Key.Usage?] = [nil] + Key.Usage.allCases.filter { $0 != key }
      for other in others {
        await #expect(throws: SignetError.key(key, .wrongPassword(remaining: 2))) {
          try await bench.device.verify(KeyBench.right(other), for: bench.container, key: key)
        }
        try await bench.device.verify(KeyBench.right(key), for: bench.container, key: key)
      }
      await #expect(throws: SignetError.key(key, .passwordRequired)) {
        try await bench.device.verify(nil, for: bench.container, key: key)
      }
    }
  }

  @Test("a wrong password counts for its key alone, and a locked key locks no other")
  func lockedAlone() async throws {
    let bench = try await KeyBench()
    for remaining in [2, 1, 0] {
      await #expect(throws: SignetError.key(.oneTimePassword, .wrongPassword(remaining: remaining))) {
        try await bench.code(by: KeyBench.wrong)
      }
    }
    let locked = SignetError.key(.oneTimePassword, .lockedOut)
    await #expect(throws: locked) { try await bench.code(by: KeyBench.right(.oneTimePassword)) }
    #expect(locked.number == SignetError.lockedOut.number)
    #expect(locked.description.hasPrefix("one-time password key: locked"))
    try await bench.sign(
      by: KeyBench.right(.transactionSigning), session: KeyBench.right(.sessionTransport))
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await bench.device.verify(KeyBench.wrong, for: bench.container)
    }
    for key in [Key.Usage.transactionSigning, .sessionTransport] {
      await #expect(throws: SignetError.key(key, .wrongPassword(remaining: 2))) {
        try await bench.device.verify(KeyBench.wrong, for: bench.container, key: key)
      }
    }
  }

  @Test("a decision needs the session key's password and the signing key's, and says which is wrong")
  func decisions() async throws {
    let bench = try await KeyBench()
    let session = KeyBench.right(.sessionTransport)
    await #expect(throws: SignetError.key(.sessionTransport, .passwordRequired)) {
      try await bench.device.pendingTransactions(for: bench.container)
    }
    await #expect(throws: SignetError.key(.sessionTransport, .wrongPassword(remaining: 2))) {
      try await bench.device.transactionList(for: bench.container, by: KeyBench.wrong)
    }
    await #expect(throws: SignetError.key(.transactionSigning, .passwordRequired)) {
      try await bench.sign(by: nil, session: session)
    }
    await #expect(throws: SignetError.key(.transactionSigning, .wrongPassword(remaining: 2))) {
      try await bench.sign(by: session, session: session)
    }
    try await bench.sign(by: KeyBench.right(.transactionSigning), session: session)
  }

  @Test("open session keys need no password again, until it is changed")
  func openSessionKeys() async throws {
    let bench = try await KeyBench()
    let (device, container) = (bench.device, bench.container)
    let keys = try await device.sessionKeys(of: container, by: KeyBench.right(.sessionTransport))
    let server = bench.server.server
    let ids = [
      try await server.createTransaction("Pay 1 EUR", for: container.user),
      try await server.createTransaction("Pay 2 EUR", for: container.user),
    ]
    let waiting = try await device.transactionList(for: container, with: keys).transactions
    #expect(Set(waiting.map(\.id)) == Set(ids))
    let first = try await device.transaction(ids[0], for: container, with: keys)
    try await device.decide(
      first, .accepted, number: nil, with: container, by: KeyBench.right(.transactionSigning), session: keys)
    try await device.changePassword(
      of: container, key: .sessionTransport, from: secret(KeyBench.passwords[.sessionTransport] ?? ""),
      to: secret("Changed 42 tower"))
    let second = try await device.transaction(ids[1], for: container, with: keys)
    await #expect(throws: SignetError.key(.sessionTransport, .passwordRequired)) {
      try await device.decide(
        second, .denied, number: nil, with: container, by: KeyBench.right(.transactionSigning), session: keys)
    }
    await #expect(throws: SignetError.key(.sessionTransport, .passwordRequired)) {
      try await device.cancel(second.id, Cancellation(.userCancel), with: container, session: keys)
    }
    #expect(try await server.decision(on: second.id) == nil)
  }

  @Test("one password is changed, the others stay")
  func change() async throws {
    let bench = try await KeyBench()
    let (old, new) = (secret(KeyBench.passwords[.oneTimePassword] ?? ""), secret("Changed 42 tower"))
    await #expect(throws: SignetError.key(.oneTimePassword, .passwordRefused([.tooShort(minimum: 4)]))) {
      try await bench.device.changePassword(
        of: bench.container, key: .oneTimePassword, from: old, to: secret("x"))
    }
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await bench.device.changePassword(of: bench.container, from: old, to: new)
    }
    try await bench.device.changePassword(of: bench.container, key: .oneTimePassword, from: old, to: new)
    _ = try await bench.code(by: .password(new))
    await #expect(throws: SignetError.key(.oneTimePassword, .wrongPassword(remaining: 2))) {
      try await bench.code(by: .password(old))
    }
    for key in [nil, Key.Usage.transactionSigning, .sessionTransport] {
      try await bench.device.verify(KeyBench.right(key), for: bench.container, key: key)
    }
  }

  @Test("a recovery code works for its own key only")
  func recovery() async throws {
    let bench = try await KeyBench()
    let password = secret(KeyBench.passwords[.transactionSigning] ?? "")
    let code = try await bench.device.makeRecoveryCode(
      for: bench.container, key: .transactionSigning, password: password)
    for other in [nil, Key.Usage.oneTimePassword] {
      await #expect(throws: SignetError.self) {
        try await bench.device.resetPassword(
          of: bench.container, key: other, with: code, to: secret("Changed 42 tower"))
      }
    }
    let new = secret("Changed 42 tower")
    try await bench.device.resetPassword(
      of: bench.container, key: .transactionSigning, with: code, to: new)
    try await bench.sign(by: .password(new), session: KeyBench.right(.sessionTransport))
  }

  @Test("the cache holds only the signing key's opened key")
  func cache() async throws {
    let bench = try await KeyBench(cache: PasswordCache(isEnabled: true))
    let session = KeyBench.right(.sessionTransport)
    for key in [nil, Key.Usage.oneTimePassword, .sessionTransport] {
      try await bench.device.verify(KeyBench.right(key), for: bench.container, key: key)
      #expect(!bench.device.hasCachedPassword(for: bench.container))
    }
    try await bench.device.verify(
      KeyBench.right(.transactionSigning), for: bench.container, key: .transactionSigning)
    #expect(bench.device.hasCachedPassword(for: bench.container))
    await #expect(throws: SignetError.key(.oneTimePassword, .passwordRequired)) {
      try await bench.code(by: nil)
    }
    // A wrong password of the session key uses up no transaction.
    await #expect(throws: SignetError.key(.sessionTransport, .wrongPassword(remaining: 2))) {
      try await bench.sign(by: nil, session: KeyBench.wrong)
    }
    try await bench.sign(by: nil, session: session)
    await #expect(throws: SignetError.key(.transactionSigning, .passwordRequired)) {
      try await bench.sign(by: nil, session: session)
    }
  }

  @Test("keys that share the container's password open with it, and the cache serves each of them")
  func shared() async throws {
    let bench = try await KeyBench([.oneTimePassword], cache: PasswordCache(isEnabled: true))
    #expect(bench.handler.requests.map(\.subject) == [.container, .key(.oneTimePassword)])
    #expect(bench.container.keys.map(\.hasOwnProtection) == [false, true, false])
    #expect(bench.container.protection(of: .sessionTransport) == .device)
    #expect(bench.container.protection(of: .transactionSigning) == bench.container.protection(of: nil))
    try await bench.sign(by: KeyBench.right(nil))
    for key in [nil, Key.Usage.transactionSigning] {
      try await bench.device.verify(KeyBench.right(nil), for: bench.container, key: key)
      try await bench.sign(by: nil)
    }
    await #expect(throws: SignetError.wrongPassword(remaining: 2)) {
      try await bench.sign(by: KeyBench.wrong)
    }
    #expect(try await bench.records(of: "user", password: KeyBench.container) == ["signing-key"])
    #expect(try await bench.records(of: "device", password: nil) == ["encryption-key", "session-key"])
  }

  @Test("a container may combine keys with and without a password")
  func deviceAlone() async throws {
    let policy = ProtectionPolicy.password(
      try PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3))
    let open = try await KeyBench(policy, [.otp: .device])
    #expect(try await open.accepts(open.code(by: nil)))
    await #expect(throws: SignetError.passwordRequired) { try await open.sign(by: nil) }
    let closed = try await KeyBench(.device, [.otp: policy])
    #expect(closed.handler.requests.map(\.subject) == [.key(.oneTimePassword)])
    try await closed.sign(by: nil)
    await #expect(throws: SignetError.key(.oneTimePassword, .passwordRequired)) {
      try await closed.code(by: nil)
    }
    #expect(try await closed.accepts(closed.code(by: KeyBench.right(.oneTimePassword))))
  }

  @Test("a password that breaks its key's rules is refused by name, and nothing is stored")
  func refusedAtActivation() async throws {
    let short = ProtectionPolicy.password(
      try PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3))
    let digits = try PasswordPolicy(minimumLength: 4, maximumLength: 8, letters: .none)
    let server = try await InvitingServer(short).restarted {
      $0.profile.keys = [.otp: .password(digits, .none)]
    }
    let fixture = try DeviceFixture(server.transport)
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.activate(server.invite(), password: KeyBench.container)
    }
    guard case .key(.oneTimePassword, .passwordRefused(let violations)) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(violations == digits.violations(of: KeyBench.container))
    #expect(try await fixture.isEmpty)
  }

  @Test("a finger opens the key that it was enabled for, and no other")
  func biometrics() async throws {
    let policy = ProtectionPolicy.biometricOrPassword(
      try PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3))
    let bench = try await KeyBench(policy, [.otp: policy])
    let transport = bench.server.transport
    let device = Device(vault: bench.fixture.vault, biometrics: SimulatedBiometrics()) {
      _ throws(TransportFailure) in transport
    }
    let finger = Authentication.biometrics(reason: "Sign in")
    await #expect(throws: SignetError.key(.oneTimePassword, .wrongPassword(remaining: 2))) {
      try await device.enableBiometrics(
        for: bench.container, key: .oneTimePassword, password: secret(KeyBench.container))
    }
    try await device.enableBiometrics(
      for: bench.container, key: .oneTimePassword,
      password: secret(KeyBench.passwords[.oneTimePassword] ?? ""))
    #expect(try await device.biometricStatus(for: bench.container, key: .oneTimePassword) == .enabled)
    #expect(try await device.biometricStatus(for: bench.container) == .notEnabled)
    let code = try await device.oneTimePassword(for: bench.container, by: finger).code
    #expect(try await bench.accepts(code))
    await #expect(throws: SignetError.unlockMethodNotEnabled(.biometrics)) {
      try await device.verify(finger, for: bench.container)
    }
    try await device.disableBiometrics(for: bench.container, key: .oneTimePassword)
    await #expect(throws: SignetError.key(.oneTimePassword, .unlockMethodNotEnabled(.biometrics))) {
      try await device.oneTimePassword(for: bench.container, by: finger)
    }
  }

  @Test("the device's passcode opens the key that it was enabled for, and no other")
  func passcode() async throws {
    let policy = ProtectionPolicy.deviceLockOrPassword(
      try PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3))
    let bench = try await KeyBench(policy, [.signing: policy])
    let transport = bench.server.transport
    let device = Device(vault: bench.fixture.vault, passcode: SimulatedPasscode("1234")) {
      _ throws(TransportFailure) in transport
    }
    try await device.enablePasscode(
      for: bench.container, key: .transactionSigning,
      password: secret(KeyBench.passwords[.transactionSigning] ?? ""))
    #expect(try await device.passcodeStatus(for: bench.container, key: .transactionSigning) == .enabled)
    #expect(try await device.passcodeStatus(for: bench.container) == .notEnabled)
    let typed = Authentication.passcode(
      reason: "Sign in", conversation: ScriptedPasscodeConversation("1234"))
    try await device.verify(typed, for: bench.container, key: .transactionSigning)
    await #expect(throws: SignetError.unlockMethodNotEnabled(.passcode)) {
      try await device.verify(typed, for: bench.container)
    }
    try await device.disablePasscode(for: bench.container, key: .transactionSigning)
    #expect(try await device.passcodeStatus(for: bench.container, key: .transactionSigning) == .notEnabled)
  }

  @Test("an expired password is refused for its own key only")
  func expiry() async throws {
    let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 40)
    let ageing = try PasswordPolicy(
      minimumLength: 4, maximumLength: 40, age: PasswordAge(maximumDays: 2))
    let bench = try await KeyBench(
      .password(policy, .lock(limit: 3)), [.otp: .password(ageing, .lock(limit: 3))])
    let clock = VirtualClock(SystemWallClock().now)
    let transport = bench.server.transport
    let device = Device(vault: bench.fixture.vault, clock: clock) { _ throws(TransportFailure) in transport }
    _ = try await device.oneTimePassword(for: bench.container, by: KeyBench.right(.oneTimePassword))
    clock.advance(by: 2 * 86_400)
    let expired = SignetError.key(.oneTimePassword, .passwordExpired)
    await #expect(throws: expired) {
      try await device.oneTimePassword(for: bench.container, by: KeyBench.right(.oneTimePassword))
    }
    #expect(expired.description.contains("signet password change --key otp"))
    #expect(
      !expired.canFallBackToPassword
        && SignetError.key(.oneTimePassword, .passwordRequired).canFallBackToPassword
    )
    try await device.verify(KeyBench.right(nil), for: bench.container)
  }

  @Test("an interrupted activation resumes with the session key's password")
  func unfinished() async throws {
    let policy = ProtectionPolicy.password(
      try PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3))
    let server = try await InvitingServer(.device).restarted { $0.profile.keys = [.session: policy] }
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    transport.cut(.before, at: "/confirm")
    await #expect(throws: SignetError.transport(.unreachable(code: 7))) {
      try await fixture.activate(server.invite(), password: "Session 42 tower")
    }
    transport.cut(nil, at: "/confirm")
    await #expect(throws: SignetError.key(.sessionTransport, .passwordRequired)) {
      try await fixture.device.finishActivations()
    }
    let staged = try #require(try await fixture.device.unconfirmedContainers().first)
    let container = try await fixture.device.finishActivation(
      of: staged, by: .password(secret("Session 42 tower")))
    #expect(container.isConfirmed)
    #expect(try await fixture.device.containers() == [container])
    #expect(try await server.states() == ["active"])
  }

  @Test(
    "a deletion with a notice to the server requires the session key's password; a wrong one deletes nothing")
  func deletion() async throws {
    let delivered = try await KeyBench([.sessionTransport])
    await #expect(throws: SignetError.key(.sessionTransport, .wrongPassword(remaining: 2))) {
      try await delivered.device.deleteContainer(delivered.container.id, by: KeyBench.wrong)
    }
    #expect(try await delivered.device.containers() == [delivered.container])
    let outcome = try await delivered.device.deleteContainer(
      delivered.container.id, by: KeyBench.right(.sessionTransport))
    #expect(outcome == .delivered)
    #expect(try await delivered.server.states() == ["revoked"])
    let undeliverable = try await KeyBench([.sessionTransport])
    #expect(
      try await undeliverable.device.deleteContainer(undeliverable.container.id)
        == .undeliverable(.key(.sessionTransport, .passwordRequired)))
    #expect(try await undeliverable.fixture.isEmpty)
    #expect(try await undeliverable.server.states() == ["active"])
  }
}
