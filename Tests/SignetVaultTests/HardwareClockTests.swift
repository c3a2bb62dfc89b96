import SignetCrypto
import SignetPolicy
import SignetTesting
import SignetVault
import Synchronization
import Testing

@Suite("Delays by the hardware clock")
struct HardwareClockTests {
  /// A keystore with a clock that a test sets.
  private final class Clocked: ClockedKeystore {
    private let software: SoftwareKeystore
    private let moment = Mutex<HardwareTime?>(HardwareTime(startCount: 7, milliseconds: 1_000_000))

    init(_ directory: String) { software = SoftwareKeystore(directory: directory) }

    var kind: KeystoreKind { .software }

    /// Sets the clock; `nil` keeps it from answering.
    func set(_ moment: HardwareTime?) { self.moment.withLock { $0 = moment } }

    func time() throws(KeystoreFailure) -> HardwareTime {
      guard let moment = moment.withLock({ $0 }) else { throw .busy }
      return moment
    }

    func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
      try software.seal(secret, context: context)
    }

    func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
      try software.unseal(blob, context: context)
    }
  }

  @Test("the hardware clock ends a wait; a restart or a missing clock does not shorten it")
  func waits() async throws {
    let fixture = try VaultFixture()
    let hardware = Clocked(fixture.directory)
    let vault = try fixture.open(keystore: hardware)
    let id = try await vault.addContainer(.sample(lock: .delay(seconds: 60, counter: 1)))
    func attempt(_ password: String = VaultFixture.password) async -> VaultFailure? {
      do { _ = try await vault.signingKey(of: id, password) } catch { return error as? VaultFailure }
      return nil
    }
    #expect(await attempt("no") == .wrongPassword(remaining: nil))
    fixture.clock.reboot(uptime: .seconds(1_000_000))
    #expect(await attempt() == .waiting(.seconds(60), remaining: nil))
    hardware.set(HardwareTime(startCount: 7, milliseconds: 1_059_999))
    #expect(await attempt() == .waiting(.milliseconds(1), remaining: nil))
    hardware.set(nil)
    #expect(await attempt() == .keystore(.busy))
    #expect(
      try await vault.domains(of: id).first { $0.slot == .password }?.attempts
        == .wait(.seconds(60), remaining: nil))
    hardware.set(HardwareTime(startCount: 8, milliseconds: 20_000))
    #expect(await attempt() == .waiting(.seconds(40), remaining: nil))
    hardware.set(HardwareTime(startCount: 8, milliseconds: 60_000))
    #expect(await attempt() == nil)
  }

  @Test(
    "without a wait the clock is not read",
    arguments: [LockPolicy.none, .lock(limit: 5), .coolDown(waits: [0, 60, 60])])
  func noWait(_ lock: LockPolicy) async throws {
    let fixture = try VaultFixture()
    let hardware = Clocked(fixture.directory)
    let vault = try fixture.open(keystore: hardware)
    let id = try await vault.addContainer(.sample(lock: lock))
    hardware.set(nil)
    #expect(try await vault.signingKey(of: id) == "signing key")
    let remaining = lock.limit.map { $0 - 1 }
    await #expect(throws: VaultFailure.wrongPassword(remaining: remaining)) {
      try await vault.signingKey(of: id, "no")
    }
    guard case .coolDown = lock else {
      #expect(try await vault.signingKey(of: id) == "signing key")
      return
    }
    // After the second failure the next attempt has to wait, so this one needs a time.
    await #expect(throws: VaultFailure.keystore(.busy)) { try await vault.signingKey(of: id) }
    hardware.set(HardwareTime(startCount: 7, milliseconds: 1))
    await #expect(throws: VaultFailure.wrongPassword(remaining: 2)) {
      try await vault.signingKey(of: id, "no")
    }
    await #expect(throws: VaultFailure.waiting(.seconds(60), remaining: 2)) {
      try await vault.signingKey(of: id)
    }
    hardware.set(HardwareTime(startCount: 7, milliseconds: 60_001))
    #expect(try await vault.signingKey(of: id) == "signing key")
  }
}
