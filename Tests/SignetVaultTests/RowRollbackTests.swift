import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Rollback of single vault rows")
struct RowRollbackTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let id: LocalContainerID
  private let other: LocalContainerID
  private let raw: Database

  init() async throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
    id = try await vault.addContainer(.sample(lock: .lock(limit: 2, atLimit: .wipe)))
    other = try await vault.addContainer(.sample(.sample(user: "bob")))
    raw = try fixture.rawDatabase()
  }

  /// Saves a table's rows; returns a function that replaces the later rows with them.
  private func snapshot(_ table: String, where condition: String = "1") throws -> () throws -> Void {
    let rows = try raw.query("SELECT rowid, * FROM \(table) WHERE \(condition)")
    let names = try raw.query("PRAGMA table_info(\(table))").map { try $0.text("name") }
    return {
      try raw.execute(script: "DELETE FROM \(table) WHERE \(condition)")
      let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
      for row in rows {
        try raw.execute(
          "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(marks))",
          names.map { row[$0] ?? .null })
      }
    }
  }

  private var mine: String { "container = x'\(id)'" }

  /// Expects that an open vault and a newly opened one reject the container, that others work, and that it can be deleted.
  private func expectNoticed(_ part: VaultPart, _ use: (Vault) async throws -> Void) async throws {
    for vault in [vault, try fixture.open()] {
      let failure = await #expect(throws: VaultFailure.self) { try await use(vault) }
      #expect(failure == .altered(part))
      #expect(failure?.description.contains("changed from outside") == true)
      #expect(failure?.description.contains("register again") == true)
      #expect(try await vault.sessionKey(of: other) == "session key")
    }
    try await vault.deleteContainer(id)
    #expect(try await vault.containers(matching: .init(state: nil)).map(\.id) == [other])
  }

  @Test("a rolled-back slot with its attempt count gives no guess")
  func slot() async throws {
    let putBack = try snapshot("slot", where: "\(mine) AND kind = 2")
    await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
      try await vault.signingKey(of: id, "no")
    }
    try putBack()
    let before = fixture.tryCount
    try await expectNoticed(.container(id)) { _ = try await $0.signingKey(of: id, "no") }
    #expect(fixture.tryCount == before, "nothing was tried")
  }

  @Test("a rolled-back slot of a changed password is detected")
  func password() async throws {
    let putBack = try snapshot("slot", where: mine)
    try await vault.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    try putBack()
    try await expectNoticed(.container(id)) { _ = try await $0.signingKey(of: id) }
  }

  @Test("a removed unlock method")
  func removedSlot() async throws {
    let domain = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    try await vault.enableBiometrics(for: domain, .simulated(fingers: 1))
    let putBack = try snapshot("slot", where: "\(mine) AND kind = 3")
    try await vault.removeSlot(.biometric, of: "keys", in: id)
    try putBack()
    try await expectNoticed(.container(id)) {
      _ = try await $0.openWithBiometrics("keys", of: id, with: SimulatedBiometrics(), reason: "test")
    }
  }

  @Test("a rolled-back container row is detected")
  func container() async throws {
    let putBack = try snapshot("container", where: "id = x'\(id)'")
    try await vault.renameContainer(id, to: "New")
    try putBack()
    #expect(try await vault.alteredContainers() == [id])
    try await expectNoticed(.container(id)) { _ = try await $0.containers() }
  }

  @Test("a rolled-back record is detected, so that no counter repeats")
  func record() async throws {
    let putBack = try snapshot("record", where: "\(mine) AND domain = 'keys' AND name = 'counter'")
    let domain = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    #expect(try await vault.advanceCounter("counter", in: domain) == 41)
    try putBack()
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) {
      try await vault.advanceCounter("counter", in: domain)
    }
    try await expectNoticed(.slot(id, domain: "keys")) { _ = try await $0.signingKey(of: id) }
  }

  @Test("restored erased rows without the receipt are detected")
  func wiped() async throws {
    let tables = ["slot", "record", "receipt"]
    let putBack = try tables.map { try snapshot($0, where: mine) }
    for expected in [VaultFailure.wrongPassword(remaining: 1), .wiped(domain: "keys")] {
      await #expect(throws: expected) { try await vault.signingKey(of: id, "no") }
    }
    #expect(try await vault.wipeReceipts().map(\.failedCount) == [2])
    for table in putBack { try table() }
    await #expect(throws: VaultFailure.altered(.container(id))) { try await vault.wipeReceipts() }
    try await expectNoticed(.container(id)) { _ = try await $0.signingKey(of: id) }
  }

  @Test("a restored deleted container is detected, with and without its state row")
  func deleted() async throws {
    let rows = try ["container", "slot", "record"].map { table in
      try snapshot(table, where: table == "container" ? "id = x'\(id)'" : mine)
    }
    let parts = try snapshot("part", where: "owner = x'\(id)'")
    try await vault.deleteContainer(id)
    for table in rows { try table() }
    await #expect(throws: VaultFailure.altered(.container(id))) { try await vault.sessionKey(of: id) }
    #expect(try await vault.alteredContainers() == [id])
    try parts()
    await #expect(throws: VaultFailure.altered(.vault)) { try await vault.sessionKey(of: id) }
    #expect(throws: VaultFailure.altered(.vault)) { try fixture.open() }
  }

  @Test("a removed container is detected")
  func takenAway() async throws {
    try raw.execute(script: "DELETE FROM container WHERE id = x'\(id)'")
    #expect(try await vault.alteredContainers() == [id])
    try await expectNoticed(.container(id)) { _ = try await $0.containers() }
  }

  @Test("an older state, with the rows of today")
  func state() async throws {
    let putBack = try ["part", "generation"].map { try snapshot($0) }
    await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
      try await vault.signingKey(of: id, "no")
    }
    for table in putBack { try table() }
    try await expectNoticed(.container(id)) { _ = try await $0.signingKey(of: id) }
  }

  @Test(
    "a state that was never stored",
    arguments: [
      "UPDATE generation SET number = number + 1", "UPDATE generation SET mac = x'00'",
      "DELETE FROM generation", "DELETE FROM part WHERE name = 'keys'", "UPDATE part SET digest = x'00'",
      "UPDATE part SET name = name || 'x'", "UPDATE part SET owner = x'00' WHERE rowid = 1",
    ])
  func forgedState(_ sql: String) async throws {
    try raw.execute(script: sql)
    await #expect(throws: VaultFailure.altered(.vault)) { try await vault.sessionKey(of: id) }
    #expect(throws: VaultFailure.altered(.vault)) { try fixture.open() }
  }

  @Test("a vault of this version cannot pass as an earlier one, whose rows had no state")
  func downgrade() async throws {
    let putBack = try snapshot("slot", where: mine)
    await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
      try await vault.signingKey(of: id, "no")
    }
    try putBack()
    try raw.execute(
      script: """
        DROP TABLE part; DROP TABLE notice; DROP TABLE place; CREATE TABLE retired (blob BLOB NOT NULL) STRICT;
        PRAGMA user_version = 2
        """)
    #expect(throws: VaultFailure.altered(.vault)) { try fixture.open() }
  }
}
