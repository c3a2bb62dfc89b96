import PostgreSQLFixture
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// Searches from the newest entries back, in a log that an attacker has changed.
@Suite(.timeLimit(.minutes(10))) struct AuditSearchTests {
  @Test(
    "a search covers every entry despite gaps and the highest number",
    arguments: StorageBackend.here)
  func holes(_ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let storage = try Storage.open(location)
    for time in 1...9 as ClosedRange<Int64> {
      try await storage.append(AuditRecord(.keyRevoked(key: "k"), by: .local, at: time))
    }
    let database = try SQLDatabase.beside(location)
    _ = try await database.write { connection in
      // Stretches of two end at missing numbers.
      try connection.execute("DELETE FROM audit WHERE number IN (4, 5, 6, 8)", changing: 4)
      let last = "INSERT INTO audit (lane, number, event, hash) VALUES ($1, $2, 'last', $3)"
      let chains = try connection.rows("SELECT DISTINCT lane FROM audit") { try $0.integer(0) }
      for chain in chains + (backend == .sqlite ? [] : [1_000]) {
        try connection.execute(last, [.integer(chain), .integer(.max), .blob([0])], changing: 1)
      }
    }.value
    let all = try await storage.auditEntries(after: 0, limit: 100)
    // SQLite has one chain.
    try #require(all.count == (backend == .sqlite ? 6 : 7))
    var found: [AuditEntry] = []
    var stretch: AuditStretch?
    // Each search reads one entry at least.
    for _ in all {
      let next = try await storage.auditStretch(about: "~alice", before: stretch, limit: 2)
      found += next.entries
      if next.unread.isEmpty { break }
      stretch = next
    }
    #expect(Set(found) == Set(all) && found.count == all.count, "\(found.map(\.number))")
    await database.close()
    await storage.close()
  }
}
