import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Open domains and changes by another process")
struct OpenDomainTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let elsewhere: Vault
  private let id: LocalContainerID

  init() async throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
    elsewhere = try fixture.open()
    id = try await vault.addContainer(.sample(lock: .coolDown(waits: [0, 60])))
  }

  private func unlocked() async throws -> UnlockedDomain {
    try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
  }

  private func wrong() async {
    await #expect(throws: VaultFailure.self) { try await elsewhere.signingKey(of: id, "no") }
  }

  @Test("an open domain stays valid without changes and after a failure without a wait")
  func current() async throws {
    let kept = try await unlocked().openedSlot
    try await vault.requireCurrent(kept)
    await wrong()
    try await vault.requireCurrent(kept)
    #expect(try await elsewhere.signingKey(of: id) == "signing key")
    try await vault.requireCurrent(kept)
  }

  @Test("a wait and a lock apply to an open domain too")
  func locked() async throws {
    let kept = try await unlocked().openedSlot
    await wrong()
    await wrong()
    let failure = await #expect(throws: VaultFailure.self) { try await vault.requireCurrent(kept) }
    guard case .waiting? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    fixture.clock.advance(by: .seconds(61))
    await wrong()
    await #expect(throws: VaultFailure.lockedOut) { try await vault.requireCurrent(kept) }
  }

  @Test("a changed or recovered password invalidates an open domain")
  func changed() async throws {
    var kept = try await unlocked().openedSlot
    let code = try await vault.makeRecoveryCode(for: unlocked())
    try await vault.requireCurrent(kept)
    try await elsewhere.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    await #expect(throws: VaultFailure.outdated(domain: "keys")) { try await vault.requireCurrent(kept) }
    kept = try await vault.open("keys", of: id, with: .password(SecretBytes("new"))).openedSlot
    try await vault.requireCurrent(kept)
    try await elsewhere.resetPassword(
      of: "keys", in: id, with: code, to: SecretBytes("newer"), policy: .any)
    await #expect(throws: VaultFailure.outdated(domain: "keys")) { try await vault.requireCurrent(kept) }
  }

  @Test("disabled biometrics and a deleted container invalidate an open domain")
  func gone() async throws {
    try await vault.enableBiometrics(for: unlocked(), .simulated(fingers: 1))
    let byFinger = try await vault.openWithBiometrics(
      "keys", of: id, with: SimulatedBiometrics(), reason: "test"
    ).openedSlot
    let kept = try await unlocked().openedSlot
    try await elsewhere.removeSlot(.biometric, of: "keys", in: id)
    await #expect(throws: VaultFailure.noSuchSlot(domain: "keys", .biometric)) {
      try await vault.requireCurrent(byFinger)
    }
    try await vault.requireCurrent(kept)
    try await elsewhere.deleteContainer(id)
    await #expect(throws: VaultFailure.noSuchContainer(id)) { try await vault.requireCurrent(kept) }
  }

  @Test("a restored older copy of the folder invalidates an open domain")
  func olderCopy() async throws {
    let hardware = SimulatedHardware()
    let other = try VaultFixture()
    let vault = try other.open(keystore: hardware)
    let id = try await vault.addContainer(.sample())
    let kept = try await vault.open("session", of: id, with: .device).openedSlot
    try await vault.requireCurrent(kept)
    let raw = try other.rawDatabase()
    let name = try #require(try raw.query("SELECT counter FROM vault").first).blob("counter")
    try hardware.advanceCounter(name)
    let failure = await #expect(throws: VaultFailure.self) { try await vault.requireCurrent(kept) }
    guard case .rolledBack? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }
}
