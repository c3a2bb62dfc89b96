import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetVault
import Testing

@Suite("Tampered vault schemas")
struct HostileSchemaTests {
  @Test("a trigger that resets the attempt count does not run")
  func trigger() async throws {
    let fixture = try VaultFixture()
    let vault = try fixture.open()
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
    // Both values were authentic once, so the row is.
    try fixture.rawDatabase().execute(
      script: """
        CREATE TRIGGER forgetful AFTER UPDATE ON slot WHEN NEW.failed > OLD.failed BEGIN
          UPDATE slot SET failed = OLD.failed, mac = OLD.mac
          WHERE container = OLD.container AND domain = OLD.domain AND kind = OLD.kind;
        END
        """)
    for expected in [VaultFailure.wrongPassword(remaining: 1), .wrongPassword(remaining: 0), .lockedOut] {
      await #expect(throws: expected) { try await vault.signingKey(of: id, "no") }
    }
  }

  @Test("a view in the place of a table is refused")
  func view() async throws {
    let fixture = try VaultFixture()
    let id = try await fixture.open().addContainer(.sample())
    try fixture.rawDatabase().execute(
      script: "ALTER TABLE record RENAME TO kept; CREATE VIEW record AS SELECT * FROM kept")
    let vault = try fixture.open()
    await #expect(throws: VaultFailure.self) { try await vault.sessionKey(of: id) }
  }
}
