import PostgreSQLFixture
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import Testing

/// The last events of one user among all events.
@Suite(.timeLimit(.minutes(10))) struct UserEventsTests {
  /// Appends events without a user, one a second.
  private static func fill(_ server: ServerFixture, _ count: Int) async throws {
    for _ in 0..<count {
      server.clock.advance(by: 1)
      let event = AuditRecord(.keyRevoked(key: "k"), by: .local, at: server.clock.now)
      try await server.storage.append(event)
    }
  }

  private static func unlock(_ server: ServerFixture, _ count: Int) async throws {
    for _ in 0..<count {
      server.clock.advance(by: 1)
      let event = AuditRecord(.userUnlocked(user: "alice"), by: .local, at: server.clock.now)
      try await server.storage.append(event)
    }
  }

  private static func search(
    _ server: ServerFixture, batchSize: Int, limitPerChain: Int
  ) async throws -> (names: [String], after: Int64?) {
    let user = try await server.users.find(UserID("alice"))
    let holdings = try await server.storage.holdings(of: "alice", codeAttempts: 5)
    let search = UserEvents(
      of: user, holdings, server.context, batchSize: batchSize, limitPerChain: limitPerChain)
    let last = try await search.last()
    return (try last.found.map { try $0.string("event") }, last.after)
  }

  @Test("an event older than one batch is found")
  func old() async throws {
    let server = try ServerFixture()
    try await server.users.add(UserID("alice"), by: .local)
    try await server.users.add(UserID("bob"), by: .local)
    try await Self.fill(server, 40)
    let found = try await Self.search(server, batchSize: 5, limitPerChain: 1_000)
    #expect(found.names == ["user.added"])
    #expect(found.after == nil)
    try await Self.unlock(server, 3)
    #expect(
      try await Self.search(server, batchSize: 5, limitPerChain: 1_000).names
        == ["user.unlocked", "user.unlocked", "user.unlocked", "user.added"])
  }

  // A database server has an audit chain for each connection and selects one.
  @Test("a search that stops before the oldest entry says up to when events may be missing")
  func bounded() async throws {
    let server = try ServerFixture(on: .sqlite)
    try await server.users.add(UserID("alice"), by: .local)
    let start = server.clock.now
    try await Self.fill(server, 40)
    let cut = try await Self.search(server, batchSize: 5, limitPerChain: 10)
    #expect(cut.names == [])
    #expect(cut.after == start + 30)
    try await Self.unlock(server, 3)
    let part = try await Self.search(server, batchSize: 5, limitPerChain: 10)
    #expect(part.names == ["user.unlocked", "user.unlocked", "user.unlocked"])
    #expect(part.after == start + 33)
    try await Self.unlock(server, 7)
    let enough = try await Self.search(server, batchSize: 5, limitPerChain: 10)
    #expect(enough.names.count == 10 && enough.after == nil)
  }

  @Test(
    "with several chains, `eventsAfter` is the latest unread time",
    .enabled(if: PrivatePostgreSQL.isPossible, "SQLite has one chain"))
  func chains() async throws {
    let server = try ServerFixture(on: .postgreSQL)
    let start = server.clock.now
    try await server.users.add(UserID("alice"), by: .local)
    let database = try SQLDatabase.beside(server.location)
    _ = try await database.write { connection in
      for number in 1...20 as ClosedRange<Int64> {
        try connection.execute(
          "INSERT INTO audit (lane, number, event, hash) VALUES (1000, $1, $2, $3)",
          [
            .integer(number),
            .text(#"{"time":\#(start + number),"event":"key.revoked","by":"local","key":"k"}"#), .blob([0]),
          ], changing: 1)
      }
    }.value
    await database.close()
    let cut = try await Self.search(server, batchSize: 5, limitPerChain: 10)
    #expect(cut.names == ["user.added"])
    #expect(cut.after == start + 10)
  }

  @Test("the end of the user's request is listed, another user's is not")
  func ends() async throws {
    let server = try ServerFixture()
    var requests: [TransactionID] = []
    for user in ["alice", "bob"] {
      let device = try await server.activate(user)
      let order = TransactionDraft(.text("Pay 10"), from: "Shop", user: device.user)
      requests.append(try await server.transactions.create(order, by: .local).record.id)
    }
    try await Self.fill(server, 30)
    try await Self.unlock(server, 4)
    for request in requests {
      server.clock.advance(by: 1)
      try await server.transactions.withdraw(request, reason: "", by: .local)
    }
    try await Self.unlock(server, 9)
    let found = try await Self.search(server, batchSize: 20, limitPerChain: 1_000)
    #expect(found.names == Array(repeating: "user.unlocked", count: 9) + ["transaction.withdrawn"])
    #expect(found.after == nil)
  }

  @Test("the end of an old request is listed where the search stopped before the request")
  func endsOfOldRequests() async throws {
    let server = try ServerFixture()
    let device = try await server.activate("alice")
    let order = TransactionDraft(.text("Pay 10"), from: "Shop", user: device.user)
    let request = try await server.transactions.create(order, by: .local).record.id
    try await Self.fill(server, 30)
    server.clock.advance(by: 1)
    try await server.transactions.withdraw(request, reason: "", by: .local)
    let found = try await Self.search(server, batchSize: 10, limitPerChain: 20)
    #expect(found.names == ["transaction.withdrawn"])
    #expect(found.after != nil)
  }
}
