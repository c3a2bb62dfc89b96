import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetVault
import Testing

@Suite("Raising the cost of a stored password")
struct CostUpgradeTests {
  private let fixture: VaultFixture
  private static let higher = Argon2id(memoryKiB: 16, passes: 2, lanes: 1)

  init() throws { fixture = try VaultFixture() }

  /// The cost in the header of the password slot.
  private func storedCost() throws -> [UInt8] {
    let row = try #require(try fixture.rawDatabase().query("SELECT header FROM slot WHERE kind = 2").first)
    return Array(try row.blob("header")[9..<21])
  }

  private func bytes(_ cost: Argon2id) -> [UInt8] {
    [cost.memoryKiB, cost.passes, cost.lanes].flatMap { [0, 0, 0, UInt8($0)] }
  }

  @Test(
    "a higher configured cost is applied at the next success, and nothing lowers a cost"
  )
  func raised() async throws {
    let id = try await fixture.open().addContainer(.sample())
    #expect(try storedCost() == bytes(VaultFixture.weak))
    let demanding = try fixture.open(cost: .fixed(Self.higher))
    await #expect(throws: VaultFailure.wrongPassword(remaining: 4)) {
      try await demanding.signingKey(of: id, "no")
    }
    #expect(try storedCost() == bytes(VaultFixture.weak))
    #expect(try await demanding.signingKey(of: id) == "signing key")
    #expect(try storedCost() == bytes(Self.higher))
    let before = fixture.derivationCount
    #expect(try await demanding.signingKey(of: id) == "signing key")
    #expect(fixture.derivationCount - before == 1, "once raised, no more work")
    let lazy = try fixture.open()
    #expect(try await lazy.signingKey(of: id) == "signing key")
    try await lazy.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    #expect(try storedCost() == bytes(Self.higher), "nor by a change of the password")
    #expect(try await lazy.signingKey(of: id, "new") == "signing key")
  }

  @Test("a cost that is higher in one parameter and lower in another is refused")
  func incomparable() async throws {
    let id = try await fixture.open(cost: .fixed(Self.higher)).addContainer(.sample())
    let other = try fixture.open(cost: .fixed(Argon2id(memoryKiB: 32, passes: 1, lanes: 1)))
    #expect(try await other.signingKey(of: id) == "signing key")
    #expect(try storedCost() == bytes(Self.higher))
  }

  @Test("a machine is calibrated only if a derivation was much faster than configured")
  func calibrated() async throws {
    let id = try await fixture.open().addContainer(.sample())
    let measured = Recorder<Int>()
    func vault(milliseconds: Int) throws -> Vault {
      var settings = Vault.Settings(cost: .calibrated(milliseconds: milliseconds))
      settings.insecureCostFloor = VaultFixture.weak
      settings.calibrate = { milliseconds in
        measured.record(milliseconds)
        return Self.higher
      }
      return try Vault(
        directory: fixture.directory, keystore: SoftwareKeystore(directory: fixture.directory),
        settings: settings)
    }
    #expect(try await vault(milliseconds: 60_000).signingKey(of: id) == "signing key")
    #expect(measured.entries == [60_000])
    #expect(try storedCost() == bytes(Self.higher))
    // A derivation cannot take no time.
    #expect(try await vault(milliseconds: 0).signingKey(of: id) == "signing key")
    #expect(measured.entries == [60_000])
  }

  /// The requested memory in KiB, passes and lanes, the device's memory in MiB, and whether it allows them.
  private static let asked: [(memory: Int, passes: Int, lanes: Int, device: Int, isGiven: Bool)] = [
    (1 << 20, 4, 1, 4096, true), (1 << 20, 5, 1, 65_536, false), (1 << 20, 2, 1, 2048, false),
    (1 << 18, 16, 1, 1024, true), (262_145, 2, 1, 1024, false), (19_456, 2, 1, 32, true),
    (19_456, 16, 16, 32, true), (19_456, 2, 17, 1024, false), (Int.max, Int.max, 1, 1024, false),
  ]

  @Test(
    "a server's costs are limited to a quarter of the memory and 4 GiB of work", arguments: asked.indices)
  func affordable(_ index: Int) {
    let asked = Self.asked[index]
    let cost = Argon2id(memoryKiB: asked.memory, passes: asked.passes, lanes: asked.lanes)
    do throws(VaultFailure) {
      try PasswordCost.requireAffordable(cost, memoryKiB: asked.device << 10)
      #expect(asked.isGiven)
    } catch {
      #expect(!asked.isGiven)
      guard case .costTooHigh(cost, _) = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test("a crash before any statement of a cost upgrade leaves a slot that opens")
  func crash() async throws {
    let id = try await fixture.open().addContainer(.sample())
    let pictures = try await fixture.pictures(cost: .fixed(Self.higher)) {
      let key = try await $0.signingKey(of: id)
      #expect(key == "signing key")
    }
    #expect(pictures.count > 8)
    for folder in pictures {
      #expect(try await VaultFixture.open(folder).signingKey(of: id) == "signing key")
    }
  }

  @Test("a keystore that cannot seal does not prevent opening")
  func cannotSeal() async throws {
    let id = try await fixture.open().addContainer(.sample())
    let vault = try fixture.open(
      keystore: SealedShut(SoftwareKeystore(directory: fixture.directory)), cost: .fixed(Self.higher))
    #expect(try await vault.signingKey(of: id) == "signing key")
    #expect(try storedCost() == bytes(VaultFixture.weak))
  }
}

/// A keystore that opens, but has no room to seal.
private struct SealedShut: HardwareKeystore {
  let keystore: SoftwareKeystore
  init(_ keystore: SoftwareKeystore) { self.keystore = keystore }
  var kind: KeystoreKind { keystore.kind }

  func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
    throw .full
  }

  func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
    try keystore.unseal(blob, context: context)
  }
}
