import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Unlock methods beside the password: fingerprint, passcode, recovery code")
struct UnlockMethodTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let id: LocalContainerID
  private let sensor = SimulatedBiometrics()

  init() async throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
    id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
  }

  private func unlocked(_ password: String = VaultFixture.password) async throws -> UnlockedDomain {
    try await vault.open("keys", of: id, with: .password(SecretBytes(password)))
  }

  private func byFinger() async throws -> String {
    try await vault.openWithBiometrics("keys", of: id, with: sensor, reason: "Sign in").text("signing")
  }

  private func state() async throws -> BiometricAuthentication {
    try await vault.biometricAuthentication(of: "keys", in: id, with: sensor)
  }

  @Test("the five states: not capable, not enrolled, not enabled, enabled, invalidated")
  func biometricStates() async throws {
    sensor.set(.notCapable)
    #expect(try await state() == .notCapable)
    sensor.set(.notEnrolled)
    #expect(try await state() == .notEnrolled)
    sensor.set(.ready(.simulated(fingers: 1)))
    #expect(try await state() == .notEnabled)
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    #expect(try await state() == .enabled)
    #expect(try await byFinger() == "signing key")
    #expect(sensor.reasons == ["Sign in"])
    sensor.set(.ready(.simulated(fingers: 2)))
    #expect(try await state() == .invalidated)
    await #expect(throws: VaultFailure.biometricsInvalidated) { try await byFinger() }
    #expect(sensor.reasons.count == 1, "nobody is asked to touch it for nothing")
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 2))
    #expect(try await byFinger() == "signing key")
    try await vault.removeSlot(.biometric, of: "keys", in: id)
    try await vault.removeSlot(.biometric, of: "keys", in: id)
    #expect(try await state() == .notEnabled)
    await #expect(throws: VaultFailure.noSuchSlot(domain: "keys", .biometric)) { try await byFinger() }
  }

  @Test("each sensor failure keeps its name, opens nothing and costs no password attempt")
  func biometricFailures() async throws {
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    for failure in [BiometricFailure.cancelled, .mismatch, .lockedOut, .busy, .timedOut, .unavailable("x")] {
      sensor.queue(.failure(failure))
      await #expect(throws: VaultFailure.biometric(failure)) { try await byFinger() }
    }
    sensor.set(.notCapable)
    await #expect(throws: VaultFailure.biometric(.notCapable)) { try await byFinger() }
    #expect(try await vault.domains(of: id).contains { $0.attempts == .allowed(remaining: 2) })
  }

  @Test("mismatches are counted on disk for all processes until a correct password")
  func mismatchesAreDurable() async throws {
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    for _ in 0..<3 {
      sensor.queue(.failure(.mismatch))
      await #expect(throws: VaultFailure.biometric(.mismatch)) { try await byFinger() }
    }
    sensor.queue(.failure(.cancelled), .failure(.busy), .failure(.timedOut))
    for failure in [BiometricFailure.cancelled, .busy, .timedOut] {
      await #expect(throws: VaultFailure.biometric(failure)) { try await byFinger() }
    }
    // Another process, with a new gate that has counted nothing.
    let elsewhere = try fixture.open()
    let fresh = SimulatedBiometrics()
    fresh.queue(.failure(.mismatch), .failure(.mismatch))
    func byFreshFinger() async throws -> String {
      try await elsewhere.openWithBiometrics("keys", of: id, with: fresh, reason: "").text("signing")
    }
    for expected in [BiometricFailure.mismatch, .mismatch, .lockedOut, .lockedOut] {
      await #expect(throws: VaultFailure.biometric(expected)) { try await byFreshFinger() }
    }
    #expect(fresh.reasons.count == 2, "nobody is asked to touch it for nothing")
    await #expect(throws: VaultFailure.biometric(.lockedOut)) { try await byFinger() }
    await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
      try await vault.signingKey(of: id, "no")
    }
    await #expect(throws: VaultFailure.biometric(.lockedOut)) { try await byFinger() }
    #expect(try await vault.signingKey(of: id) == "signing key")
    #expect(try await byFreshFinger() == "signing key")
    #expect(fresh.lockoutsEnded == 3, "its own count is nothing beside the vault's: once for each match")
  }

  @Test("the enrolled set during the match decides, not the earlier one")
  func setChangesDuringMatch() async throws {
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    let sensor = ChangingSensor()
    await #expect(throws: VaultFailure.biometricsInvalidated) {
      _ = try await vault.openWithBiometrics("keys", of: id, with: sensor, reason: "Sign in")
    }
  }

  @Test("biometrics and recovery code stay valid after a password change, and open if it is locked")
  func afterChange() async throws {
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    let code = try await vault.makeRecoveryCode(for: unlocked())
    try await vault.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    for _ in 0..<2 { await #expect(throws: VaultFailure.self) { try await vault.signingKey(of: id, "no") } }
    await #expect(throws: VaultFailure.lockedOut) { try await vault.signingKey(of: id, "new") }
    #expect(try await byFinger() == "signing key")
    let recovered = try await vault.open("keys", of: id, with: .recovery(code))
    #expect(try recovered.text("signing") == "signing key")
    #expect(recovered.openedBy == .recovery)
  }

  @Test(
    "a recovery code replaces a forgotten or locked password under the policy, and stays valid"
  )
  func recovery() async throws {
    let policy = try PasswordPolicy(minimumLength: 3, maximumLength: 64, maximumHistory: 3)
    let first = try await vault.makeRecoveryCode(for: unlocked())
    let code = try await vault.makeRecoveryCode(for: unlocked())
    for _ in 0..<2 { await #expect(throws: VaultFailure.self) { try await vault.signingKey(of: id, "no") } }
    await #expect(throws: VaultFailure.wrongRecoveryCode) {
      try await vault.resetPassword(
        of: "keys", in: id, with: first, to: SecretBytes("new one"), policy: policy)
    }
    await #expect(throws: VaultFailure.passwordRefused([.tooShort(minimum: 3)])) {
      try await vault.resetPassword(of: "keys", in: id, with: code, to: SecretBytes("n"), policy: policy)
    }
    for password in ["new one", "newer one"] {
      let typed = try RecoveryCode(code.text.lowercased().replacing("-", with: " "))
      try await vault.resetPassword(
        of: "keys", in: id, with: typed, to: SecretBytes(password), policy: policy)
      #expect(try await vault.signingKey(of: id, password) == "signing key")
    }
    await #expect(throws: VaultFailure.noSuchSlot(domain: "session", .recovery)) {
      _ = try await vault.open("session", of: id, with: .recovery(code))
    }
  }

  @Test("a recovery code has 26 symbols and a check symbol, differs each time, and finds typing errors")
  func recoveryCode() async throws {
    let (one, two) = (
      try await vault.makeRecoveryCode(for: unlocked()), try await vault.makeRecoveryCode(for: unlocked())
    )
    #expect(one.text != two.text)
    #expect(one.text.split(separator: "-").map(\.count) == [4, 4, 4, 4, 4, 4, 3])
    #expect("\(one)" == "recovery code", "it is not shown by chance")
    #expect(try RecoveryCode(one.text).text == one.text)
    var typed = Array(one.text)
    typed[6] = typed[6] == "7" ? "8" : "7"
    #expect(throws: (any Error).self) { _ = try RecoveryCode(String(typed)) }
    #expect(throws: (any Error).self) { _ = try RecoveryCode("") }
    #expect(throws: (any Error).self) { _ = try RecoveryCode(String(repeating: "0", count: 1 << 20)) }
  }

  @Test("a recovery code has 128 random bits: of a hundred codes, some have each bit set and some have not")
  func randomBits() throws {
    var (ones, zeros) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0xFF, count: 16))
    for _ in 0..<100 {
      let bytes = try CrockfordBase32.decode(RecoveryCode().text, byteCount: 16, withCheckSymbol: true)
      for (index, byte) in bytes.enumerated() {
        ones[index] |= byte
        zeros[index] &= byte
      }
    }
    #expect(ones.allSatisfy { $0 == 0xFF } && zeros.allSatisfy { $0 == 0 })
  }

  @Test("the device passcode opens only after it was verified")
  func passcode() async throws {
    let device = SimulatedPasscode("1234")
    func byPasscode(_ answer: String?) async throws -> String {
      try await vault.openWithPasscode(
        "keys", of: id, with: device, reason: "Sign in", conversation: ScriptedPasscodeConversation(answer)
      ).text("signing")
    }
    await #expect(throws: VaultFailure.noSuchSlot(domain: "keys", .devicePasscode)) {
      try await byPasscode("1234")
    }
    try await vault.enablePasscode(for: unlocked())
    #expect(try await byPasscode("1234") == "signing key")
    await #expect(throws: VaultFailure.passcode(.mismatch)) { try await byPasscode("4321") }
    await #expect(throws: VaultFailure.passcode(.cancelled)) { try await byPasscode(nil) }
    device.queue(.lockedOut)
    await #expect(throws: VaultFailure.passcode(.lockedOut)) { try await byPasscode("1234") }
    try await vault.removeSlot(.devicePasscode, of: "keys", in: id)
    await #expect(throws: VaultFailure.noSuchSlot(domain: "keys", .devicePasscode)) {
      try await byPasscode("1234")
    }
  }

  @Test("only the password adds an unlock method; password and device cannot be removed")
  func refusals() async throws {
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    let byFinger = try await vault.openWithBiometrics("keys", of: id, with: sensor, reason: "")
    await #expect(throws: VaultFailure.passwordNeeded(domain: "keys")) {
      try await vault.enableBiometrics(for: byFinger, .simulated(fingers: 2))
    }
    await #expect(throws: VaultFailure.passwordNeeded(domain: "keys")) {
      try await vault.enablePasscode(for: byFinger)
    }
    await #expect(throws: VaultFailure.passwordNeeded(domain: "keys")) {
      _ = try await vault.makeRecoveryCode(for: byFinger)
    }
    for kind in [SlotKind.password, .device] {
      await #expect(throws: VaultFailure.noSuchSlot(domain: "keys", kind)) {
        try await vault.removeSlot(kind, of: "keys", in: id)
      }
    }
    let open = try await unlocked()
    try await vault.deleteContainer(id)
    await #expect(throws: VaultFailure.noSuchContainer(id)) {
      try await vault.enableBiometrics(for: open, .simulated(fingers: 1))
    }
  }

  @Test("an external change of a slot's kind or enrolled set is detected")
  func altered() async throws {
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    try await vault.enablePasscode(for: unlocked())
    let raw = try fixture.rawDatabase()
    let exchange = """
      UPDATE slot SET kind = kind + 10 WHERE kind IN (3, 4); UPDATE slot SET kind = 17 - kind WHERE kind > 10
      """
    try raw.execute(script: exchange)
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) {
      _ = try await vault.openWithPasscode(
        "keys", of: id, with: SimulatedPasscode("1"), reason: "",
        conversation: ScriptedPasscodeConversation("1"))
    }
    try raw.execute(script: exchange)
    #expect(try await byFinger() == "signing key")
    let header = try #require(try raw.query("SELECT header AS v FROM slot WHERE kind = 3").first).blob("v")
    var changed = header
    changed.replaceSubrange(22..<54, with: [UInt8](repeating: 2, count: 32))
    try raw.execute("UPDATE slot SET header = ? WHERE kind = 3", .blob(changed))
    sensor.set(.ready(.simulated(fingers: 2)))
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) { try await byFinger() }
  }
}

/// A sensor whose enrolled set changes between the query and the match.
private struct ChangingSensor: BiometricGate {
  func state() async throws(BiometricFailure) -> BiometricState { .ready(.simulated(fingers: 1)) }

  func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet { .simulated(fingers: 2) }

  func endLockout() async {}
}
