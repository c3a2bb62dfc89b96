import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTestKit
import SignetVault
import Testing

@Suite("Tampered vault files")
struct HostileFileTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private let id: LocalContainerID
  private let raw: Database

  init() async throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
    id = try await vault.addContainer(.sample())
    try await vault.confirmContainer(id)
    raw = try fixture.rawDatabase()
  }

  /// Changes each byte of a value in turn, and restores it.
  private func forEachFlip(
    of column: String, in table: String, where condition: String = "1", _ check: (Int) async throws -> Void
  ) async throws {
    let row = try #require(try raw.query("SELECT \(column) AS v FROM \(table) WHERE \(condition)").first)
    let (original, isText): ([UInt8], Bool) =
      if case .text(let text)? = row["v"] { (Array(text.utf8), true) } else { (try row.blob("v"), false) }
    #expect(!original.isEmpty)
    let update = "UPDATE \(table) SET \(column) = ? WHERE \(condition)"
    func value(_ bytes: [UInt8]) -> SQLiteValue {
      isText ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
    }
    for index in original.indices {
      var changed = original
      changed[index] ^= 1 << (index % 7)
      try raw.execute(update, value(changed))
      try await check(index)
    }
    for changed in [[], Array(original.dropLast()), original + [0]] {
      try raw.execute(update, value(changed))
      try await check(changed.count)
    }
    try raw.execute(update, value(original))
    #expect(try await vault.sessionKey(of: id) == "session key")
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test(
    "each changed byte of a password slot: no attempt is made, and the part is named",
    arguments: ["header", "sealed_secret", "wrapped_key", "mac"])
  func passwordSlot(_ column: String) async throws {
    let before = fixture.derivationCount
    try await forEachFlip(of: column, in: "slot", where: "kind = 2") { index in
      let failure = await #expect(throws: VaultFailure.self, "byte \(index)") {
        try await vault.signingKey(of: id)
      }
      #expect(failure == .altered(.slot(id, domain: "keys")), "byte \(index)")
    }
    #expect(fixture.derivationCount - before == 1, "only the last, right one")
  }

  @Test(
    "each changed byte of a device slot is detected",
    arguments: ["header", "sealed_secret", "wrapped_key", "mac"])
  func deviceSlot(_ column: String) async throws {
    try await forEachFlip(of: column, in: "slot", where: "kind = 1") { index in
      let failure = await #expect(throws: VaultFailure.self, "byte \(index)") {
        try await vault.sessionKey(of: id)
      }
      #expect(failure == .altered(.slot(id, domain: "session")), "byte \(index)")
    }
  }

  @Test("each changed byte of a sealed record is detected")
  func record() async throws {
    try await forEachFlip(of: "sealed", in: "record", where: "domain = 'session' AND name = 'key'") { index in
      let failure = await #expect(throws: VaultFailure.self, "byte \(index)") {
        try await vault.sessionKey(of: id)
      }
      #expect(failure == .altered(.slot(id, domain: "session")), "byte \(index)")
    }
  }

  @Test(
    "each changed byte of a container's row is detected",
    arguments: [
      "user_id", "server", "name", "server_id", "authorities", "pins", "protocol_facts", "extra", "mac",
    ])
  func container(_ column: String) async throws {
    try await forEachFlip(of: column, in: "container") { index in
      let failure = await #expect(throws: VaultFailure.self, "byte \(index)") { try await vault.containers() }
      #expect(failure == .altered(.container(id)), "byte \(index)")
      let altered = try await vault.alteredContainers()
      #expect(altered == [id])
      await #expect(throws: VaultFailure.altered(.container(id))) { try await vault.sessionKey(of: id) }
      await #expect(throws: VaultFailure.altered(.container(id))) {
        try await vault.renameContainer(id, to: "x")
      }
    }
  }

  @Test(
    "each changed byte of the vault's identity is detected",
    arguments: ["vault", "device", "keystore", "sealed_key", "mac"])
  func identity(_ column: String) async throws {
    try await forEachFlip(of: column, in: "vault") { index in
      let failure = #expect(throws: VaultFailure.self, "byte \(index)") { try fixture.open() }
      switch failure {
      case .altered(.vault), .keystore(.refused): break
      default: Issue.record("byte \(index): \(String(describing: failure))")
      }
    }
  }

  @Test(
    "changed numbers are detected: state, time, attempt count, kind",
    arguments: [
      "UPDATE container SET state = 0", "UPDATE container SET state = 7", "UPDATE container SET created = 0",
      "UPDATE container SET id = x'00'", "UPDATE container SET authorities = NULL",
      "UPDATE slot SET failed = 1", "UPDATE slot SET failed = -1", "UPDATE slot SET kind = 3 - kind",
      "UPDATE slot SET domain = 'new' WHERE domain = 'keys'",
      "DELETE FROM slot WHERE domain = 'keys'; UPDATE slot SET domain = 'keys', kind = 2",
      "UPDATE slot SET container = x'00'", "UPDATE record SET container = x'00'",
    ])
  func numbers(_ sql: String) async throws {
    try raw.execute(script: sql)
    await #expect(throws: VaultFailure.self) {
      _ = try await vault.containers()
      _ = try await vault.domains(of: id).map(\.name)
      _ = try await vault.sessionKey(of: id)
      _ = try await vault.signingKey(of: id)
    }
  }

  @Test("a rolled-back count is detected and gives no extra attempts")
  func countSetBack() async throws {
    for _ in 0..<5 { await #expect(throws: VaultFailure.self) { try await vault.signingKey(of: id, "no") } }
    try raw.execute(script: "UPDATE slot SET failed = 0")
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) {
      try await vault.signingKey(of: id)
    }
  }

  @Test("records swapped by name, domain or container are detected")
  func swapped() async throws {
    let second = try await vault.addContainer(.sample(.sample(user: "bob")))
    for sql in [
      "UPDATE record SET name = CASE name WHEN 'key' THEN 'counter' ELSE 'key' END WHERE domain = 'session'",
      "UPDATE record SET domain = CASE domain WHEN 'keys' THEN 'session' ELSE 'keys' END WHERE name = 'counter'",
      "UPDATE record SET sealed = (SELECT sealed FROM record AS o WHERE o.domain = record.domain AND o.name = record.name AND o.container <> record.container)",
    ] {
      try raw.execute(script: "BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM record; COMMIT")
      try raw.execute("PRAGMA ignore_check_constraints = ON")
      try swap(sql)
      for container in [id, second] {
        await #expect(throws: VaultFailure.altered(.slot(container, domain: "session")), "\(sql)") {
          try await vault.sessionKey(of: container)
        }
      }
      try raw.execute(script: "DELETE FROM record; INSERT INTO record SELECT * FROM kept; DROP TABLE kept")
    }
    let slots = "header, sealed_secret, wrapped_key, failed, mac"
    try raw.execute(
      script: """
        CREATE TEMP TABLE kept AS SELECT * FROM slot;
        UPDATE slot SET (\(slots)) =
          (SELECT \(slots) FROM kept AS o WHERE o.domain = slot.domain AND o.container <> slot.container);
        """)
    // Neither is the stored one; the first is named.
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) {
      try await vault.sessionKey(of: id)
    }
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) {
      try await vault.signingKey(of: id)
    }
  }

  /// Runs an update by a copy, since it would violate the primary key halfway.
  private func swap(_ sql: String) throws {
    let copied = sql.replacing("UPDATE record", with: "UPDATE swapped").replacing("record.", with: "swapped.")
    try raw.execute(
      script: """
        CREATE TEMP TABLE swapped AS SELECT * FROM record;
        \(copied);
        DELETE FROM record; INSERT INTO record SELECT * FROM swapped; DROP TABLE swapped;
        """)
  }

  @Test("an altered container can be deleted, and the others work again")
  func repair() async throws {
    let second = try await vault.addContainer(.sample(.sample(user: "bob")))
    try await vault.confirmContainer(second)
    try raw.execute("UPDATE container SET name = 'x' WHERE id = ?", .blob(id.bytes))
    await #expect(throws: VaultFailure.altered(.container(id))) { try await vault.containers() }
    #expect(try await vault.sessionKey(of: second) == "session key")
    // Its claims can be read, but are not trusted.
    let claims = try await vault.unauthenticatedAttributes(of: id)
    #expect(claims?.userID == "alice" && claims?.name == "x")
    for change in ["name = printf('%.*c', 5000, 'x')", "pins = x'00'"] {
      try raw.execute("UPDATE container SET \(change) WHERE id = ?", .blob(id.bytes))
      let claims = try await vault.unauthenticatedAttributes(of: id)
      #expect(claims == nil, "\(change)")
    }
    for altered in try await vault.alteredContainers() { try await vault.deleteContainer(altered) }
    #expect(try await vault.containers().map(\.id) == [second])
    #expect(try await vault.unauthenticatedAttributes(of: id) == nil)
  }

  @Test(
    "a changed schema is a damaged vault, and triggers and views do not run",
    arguments: [
      "DROP TABLE record", "ALTER TABLE slot RENAME COLUMN mac TO cam", "DROP TABLE vault",
      "ALTER TABLE container RENAME TO c; CREATE VIEW container AS SELECT * FROM c",
    ])
  func schema(_ sql: String) async throws {
    try raw.execute(script: sql)
    let id = id
    do {
      let vault = try fixture.open()
      try await vault.renameContainer(id, to: "x")
      _ = try await vault.sessionKey(of: id)
      _ = try await vault.signingKey(of: id)
      Issue.record("nothing was noticed")
    } catch VaultFailure.damaged {} catch VaultFailure.storage {}
  }

  @Test("any changed byte of the file gives a named failure or the stored data")
  func anyByte() async throws {
    let copy = fixture.folder.file("copy")
    try FileManager.default.createDirectory(
      atPath: copy, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try raw.checkpoint()
    for name in ["vault.sqlite", "software-keystore.key"] {
      try FileManager.default.copyItem(atPath: "\(fixture.directory)/\(name)", toPath: "\(copy)/\(name)")
    }
    let original = try Data(contentsOf: URL(fileURLWithPath: "\(copy)/vault.sqlite"))
    var failed = 0
    for offset in stride(from: 0, to: original.count, by: 53) {
      var changed = original
      changed[offset] ^= 1 << (offset % 8)
      for suffix in ["-wal", "-shm"] { unlink("\(copy)/vault.sqlite\(suffix)") }
      let handle = try FileHandle(forUpdating: URL(fileURLWithPath: "\(copy)/vault.sqlite"))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: changed)
      try handle.close()
      do {
        let vault = try VaultFixture.open(copy)
        let containers = try await vault.containers()
        #expect(containers.allSatisfy { $0.id == id && $0.attributes == .sample() && $0.created == 1_000 })
        #expect(try await vault.sessionKey(of: id) == "session key")
        #expect(try await vault.signingKey(of: id) == "signing key")
      } catch is VaultFailure { failed += 1 }
    }
    #expect(failed > 0)
  }
}
