import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Accounts in a separate domain", .timeLimit(.minutes(10)))
struct AccountVaultTests {
  private let fixture: VaultFixture
  private static let lock = LockPolicy.delay(seconds: 2, counter: 11)

  init() throws { fixture = try VaultFixture() }

  private static func counter(_ value: UInt8) -> SecretBytes {
    SecretBytes(copying: [0, 0, 0, 0, 0, 0, 0, value])
  }

  private func made(_ vault: Vault) async throws -> LocalContainerID {
    try await vault.makeAccountsContainer(protection: .device, created: 1_000)
  }

  private static func texts(
    _ vault: Vault, _ id: LocalContainerID, _ opening: consuming DomainOpening = .device
  ) async throws -> [String: String] {
    let open = try await vault.open(Vault.accountsDomain, of: id, with: opening)
    var texts: [String: String] = [:]
    for name in open.recordNames { texts[name] = try open.text(name) }
    return texts
  }

  @Test("the accounts' domain is created once and never listed as a server's container")
  func madeOnce() async throws {
    let vault = try fixture.open()
    #expect(try await vault.accountsContainer() == nil)
    let ids = try await withThrowingTaskGroup(of: LocalContainerID.self) { group in
      for _ in 0..<20 {
        let other = try fixture.open()
        group.addTask { try await other.makeAccountsContainer(protection: .device, created: 1_000) }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
    #expect(try await vault.accountsContainer() == ids.first)
    #expect(try await vault.containers().isEmpty)
    #expect(try await vault.containers(matching: .init(state: .unconfirmed)).isEmpty)
    #expect(try await vault.containers(matching: .init(state: nil)).map(\.id) == Array(ids))
    // A server's confirmation replaces no accounts container.
    let container = try await vault.addContainer(.sample(.sample(user: "", server: "")))
    try await vault.confirmContainer(container)
    #expect(try await vault.accountsContainer() == ids.first)
  }

  @Test("records change together, based on their current values")
  func changes() async throws {
    let vault = try fixture.open()
    let id = try await made(vault)
    let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
    let names = try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
      try records.set("a", to: SecretBytes("one"))
      try records.set("b", to: SecretBytes("two"))
      records.remove("none")
      return records.names
    }
    #expect(names == ["a", "b"])
    // The domain was opened before the change; the current records count.
    try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
      #expect(records.names == ["a", "b"])
      let text = try records.secret("a")?.withTemporaryArray { String(decoding: $0, as: UTF8.self) }
      #expect(text == "one")
      records.remove("a")
      #expect(records.names == ["b"])
      try records.set("c", to: SecretBytes("three"))
    }
    #expect(try await Self.texts(vault, id) == ["b": "two", "c": "three"])
    await #expect(throws: VaultFailure.invalidName) {
      try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
        records.remove("b")
        try records.set("", to: SecretBytes("x"))
      }
    }
    #expect(try await Self.texts(vault, id) == ["b": "two", "c": "three"], "all or nothing")
  }

  @Test("fifty concurrent changes lose nothing")
  func together() async throws {
    let id = try await made(try fixture.open())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        let vault = try fixture.open()
        group.addTask {
          let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
          try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
            try records.set("record-\(number)", to: SecretBytes("\(number)"))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await Self.texts(try fixture.open(), id).count == 50)
  }

  @Test("a password replaces the device lock and back; sessions opened before are closed")
  func protection() async throws {
    let vault = try fixture.open()
    let id = try await made(vault)
    let before = try await vault.open(Vault.accountsDomain, of: id, with: .device)
    try await vault.changeRecords(of: before) { (records) throws(VaultFailure) in
      try records.set("a", to: SecretBytes("one"))
    }
    let password = SharedSecretBox(VaultFixture.password)
    try await vault.setProtection(.password(password, Self.lock), of: before)
    await #expect(throws: VaultFailure.noSuchSlot(domain: Vault.accountsDomain, .device)) {
      try await vault.changeRecords(of: before) { (_) throws(VaultFailure) in }
    }
    await #expect(throws: VaultFailure.noSuchSlot(domain: Vault.accountsDomain, .device)) {
      _ = try await vault.open(Vault.accountsDomain, of: id, with: .device)
    }
    await #expect(throws: VaultFailure.wrongPassword(remaining: nil)) {
      _ = try await vault.open(Vault.accountsDomain, of: id, with: .password(SecretBytes("wrong")))
    }
    fixture.clock.advance(by: .seconds(10))
    #expect(
      try await Self.texts(vault, id, .password(SecretBytes(VaultFixture.password))) == ["a": "one"])
    let open = try await vault.open(
      Vault.accountsDomain, of: id, with: .password(SecretBytes(VaultFixture.password)))
    try await vault.setProtection(.device, of: open)
    #expect(try await Self.texts(vault, id) == ["a": "one"])
    #expect(try await vault.domains(of: id).map(\.slot) == [.device])
  }

  @Test("removed slots release their hardware indices")
  func locationsInHardware() async throws {
    let hardware = SimulatedHardware()
    let vault = try fixture.open(keystore: hardware)
    let id = try await made(vault)
    let lock = LockPolicy.lock(limit: 5)
    let before = hardware.locationCount
    var open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
    try await vault.setProtection(.password(SharedSecretBox(VaultFixture.password), lock), of: open)
    #expect(hardware.locationCount == before + 1)
    open = try await vault.open(
      Vault.accountsDomain, of: id, with: .password(SecretBytes(VaultFixture.password)))
    try await vault.setProtection(.device, of: open)
    #expect(hardware.locationCount == before)
  }

  @Test("a failure of any statement leaves the accounts unchanged, with the old or new protection")
  func faults() async throws {
    let id = try await made(try fixture.open())
    let vault = try fixture.open()
    let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
    try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
      try records.set("counter", to: Self.counter(7))
    }
    let changes = try await fixture.failingEachStatement { (vault) async throws(VaultFailure) in
      let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
      try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
        try records.set("a", to: SecretBytes("one"))
        try records.set("b", to: SecretBytes("two"))
      }
    } check: { _ in
      let records = try await Self.texts(try fixture.open(), id)
      #expect(records.keys.sorted() == ["counter"])
    }
    #expect(changes > 3)
    let protections = try await fixture.failingEachStatement { (vault) async throws(VaultFailure) in
      let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
      try await vault.setProtection(.password(SharedSecretBox(VaultFixture.password), Self.lock), of: open)
    } check: { _ in
      let records = try await Self.texts(try fixture.open(), id)
      #expect(records.count == 3)
    }
    #expect(protections > 3)
  }

  @Test("a counter whose process dies at any statement gives no value twice")
  func killed() async throws {
    let id = try await made(try fixture.open())
    let vault = try fixture.open()
    let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
    try await vault.changeRecords(of: open) { (records) throws(VaultFailure) in
      try records.set("counter", to: Self.counter(0))
    }
    let pictures = try await fixture.pictures { vault in
      let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
      #expect(try await vault.advanceCounter("counter", in: open) == 0)
    }
    var values: [UInt64] = []
    for folder in pictures {
      let vault = try VaultFixture.open(folder)
      let open = try await vault.open(Vault.accountsDomain, of: id, with: .device)
      values.append(try await vault.advanceCounter("counter", in: open))
    }
    // A value is not returned before its commit, and never twice.
    #expect(values.first == 0 && values.last == 1)
    #expect(values == values.sorted())
  }
}
