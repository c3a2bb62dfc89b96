import Foundation
import SignetSQLite
import SignetStorage
import SignetServerTesting
import SignetTestKit
import Testing

/// Back ends that lose a write silently: the contract's checks find each of them.
///
/// A constraint whose conflicts SQLite ignores loses the write; everything else is the real back end. (Triggers would be simpler,
/// but are disabled in every connection.)
@Suite(.timeLimit(.minutes(10))) struct FaultyStorageTests {
  /// A table with a condition on the writes that are lost.
  struct Fault: Sendable, CustomTestStringConvertible {
    let table: String
    /// The condition of rows that are written; `nil` if none is.
    let condition: String?

    init(_ table: String, allBut condition: String? = nil) {
      (self.table, self.condition) = (table, condition)
    }

    var testDescription: String {
      "\(table): \(condition.map { "only where \($0)" } ?? "nothing") is written"
    }

    private var column: String {
      let value = condition.map { "GENERATED ALWAYS AS (iif(\($0), 1, NULL)) STORED " } ?? ""
      return "fault INTEGER \(value)NOT NULL ON CONFLICT IGNORE, "
    }

    /// Recreates the table with the fault.
    func install(in path: String) throws {
      let database = try Database(path: path)
      try database.execute("PRAGMA foreign_keys = OFF")
      let rows = try database.query(
        "SELECT sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC",
        .text(table))
      let statements = try rows.map { try $0.text("sql") }
      let made = try #require(statements.first)
      let columns = try #require(made.range(of: "(")).upperBound
      try database.execute("DROP TABLE \(table)")
      try database.execute("\(made[..<columns])\(column)\(made[columns...])")
      for index in statements.dropFirst() { try database.execute(index) }
    }
  }

  /// Returns whether a check passes on a back end with the fault.
  private static func isContent(_ check: StorageContract.Check, with fault: Fault?) async throws -> Bool {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    try await Storage(.file(path)).close()
    try fault?.install(in: path)
    let storage = try Storage(.file(path))
    do { try await check.run(storage) } catch {
      await storage.close()
      return false
    }
    await storage.close()
    return true
  }

  private static let allTables = [
    "users", "devices", "api_keys", "activations", "containers", "requests", "transactions", "audit",
    "credentials", "waits", "signing_keys", "push_targets", "transaction_changes",
    "clients", "backchannel_requests", "uaf_credentials", "uaf_sessions", "uaf_targets",
    "account_states", "account_orders", "pushauth_mechanisms", "pushauth_messages", "authenticator_keys",
    "outbox", "outbox_receivers", "request_shares", "audit_counts",
  ]

  @Test("the list of tables is complete")
  func tables() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    try await Storage(.file(path)).close()
    let found = try Database(path: path).query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'schema_version'"
    )
    #expect(try Set(found.map { try $0.text("name") }) == Set(Self.allTables))
  }

  @Test("lost rows of each table are detected", arguments: allTables.map { Fault($0) })
  func lostRows(_ fault: Fault) async throws {
    // Checks that leave rows in the table run first, since they find the fault most often.
    let likely = try await Self.checks.value[fault.table] ?? []
    let checks = StorageContract.checks
    let inOrder = checks.filter { likely.contains($0.name) } + checks.filter { !likely.contains($0.name) }
    for check in inOrder where try await !Self.isContent(check, with: fault) { return }
    Issue.record("no check finds it")
  }

  /// The names of the checks that leave rows in each table, computed once.
  private static let checks = Task {
    var names: [String: Set<String>] = [:]
    for check in StorageContract.checks {
      let folder = try TemporaryFolder()
      let path = folder.path + "/signet.sqlite"
      let storage = try Storage(.file(path))
      try await check.run(storage)
      await storage.close()
      let database = try Database(path: path)
      for table in allTables where try !database.query("SELECT 1 FROM \(table) LIMIT 1").isEmpty {
        names[table, default: []].insert(check.name)
      }
    }
    return names
  }

  @Test(
    "a lost change is detected by its own check and not by another",
    arguments: [
      (
        Fault("activations", allBut: "failed_attempts = 0"),
        "wrong proofs are counted to the limit, then nothing is accepted", "a user is found as added, once"
      ),
      (
        Fault("activations", allBut: "state = 'open'"),
        "an activation that is used, expired or unknown refuses", "a user is found as added, once"
      ),
      (
        Fault("api_keys", allBut: "revoked IS NULL"),
        "an API key is found as added, and revoked once for all",
        "a user is found as added, once"
      ),
      (
        Fault("containers", allBut: "state <> 'revoked'"), "a container is revoked for good",
        "a transaction is found as added, and needs a user"
      ),
      (
        Fault("devices", allBut: "ordered_lock = 0"),
        "a lock of a device that has UAF keys alone holds until it ends", "a user is found as added, once"
      ),
      (
        Fault("devices", allBut: "standing <> 'locked'"), "a device stands as its container does",
        "a transaction is found as added, and needs a user"
      ),
      (
        Fault("uaf_credentials", allBut: "state <> 'revoked'"),
        "with a container go the UAF keys and the targets on its device, and nothing else",
        "a UAF key is of its user alone"
      ),
      (
        Fault("containers", allBut: "failed_signatures = 0"),
        "wrong signatures are counted for the container; at the limit nothing tells a right one",
        "the first decision wins; the same again is a repetition"
      ),
      (
        Fault("credentials", allBut: "failures = 0"),
        "failed codes in a row lock, a good one before that sets the count back",
        "a user is found as added, once"
      ),
      (
        Fault("credentials", allBut: "last_counter < 0"), "a counter is accepted once, and none below it",
        "a transaction is found as added, and needs a user"
      ),
      (
        Fault("transactions", allBut: "state = 'pending'"),
        "the first decision wins; the same again is a repetition",
        "a transaction is found as added, and needs a user"
      ),
      (
        Fault("transactions", allBut: "wrong_numbers = 0"),
        "a wrong number is counted, also at once, and at the limit the transaction is denied",
        "the first decision wins; the same again is a repetition"
      ),
      (
        Fault("signing_keys", allBut: "retired IS NULL"),
        "a signing key takes the place of the one that is named, once", "a user is found as added, once"
      ),
      (
        Fault("clients", allBut: "revoked IS NULL"), "a client is found as added, and revoked once for all",
        "a user is found as added, once"
      ),
      (
        Fault("backchannel_requests", allBut: "issued IS NULL"),
        "an end is found by who asks for it in time, and tokens are given out once",
        "a request comes with its transaction, or not at all"
      ),
      (
        Fault("outbox", allBut: "attempts = 0"),
        "of 50 senders one has a delivery; one that lost its lease changes nothing",
        "an event is written for each receiver, in the step of the change"
      ),
      (
        Fault("audit", allBut: "number < 2"), "the audit log has no gap and is read in pages", nil
      ),
    ] as [(Fault, String, String?)])
  func lostChanges(_ fault: Fault, _ finder: String, _ other: String?) async throws {
    func check(_ name: String) throws -> StorageContract.Check {
      try #require(StorageContract.checks.first { $0.name == name }, "\(name)")
    }
    #expect(try await Self.isContent(check(finder), with: nil))
    #expect(try await !Self.isContent(check(finder), with: fault))
    if let other { #expect(try await Self.isContent(check(other), with: fault)) }
  }
}
