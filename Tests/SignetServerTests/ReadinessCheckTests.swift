import PostgreSQLFixture
import SignetHTTPServer
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Readiness: a durable test change, at most once a second for any number of requests.
@Suite(.timeLimit(.minutes(10))) struct ReadinessCheckTests {
  @Test("a hundred readiness requests within a second cause one check")
  func oneLookASecond() async throws {
    let fixture = try ServerFixture(on: .sqlite, timer: VirtualTimer())
    let readiness = Readiness(fixture.context)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<100 { group.addTask { await readiness.failure() == nil } }
      for await isReady in group { #expect(isReady) }
    }
    #expect(await readiness.count == 1)
  }

  @Test(
    "proxied and remote readiness requests get 404",
    arguments: [
      "Forwarded", "x-forwarded-for", "Via", "X-Real-IP", "X-Forwarded-Proto", "x-forwarded-host", nil,
    ])
  func passedOn(field: String?) async throws {
    let fixture = try ServerFixture(on: .sqlite)
    let readiness = Readiness(fixture.context)
    var request = ServerRequest(method: "GET", path: try RequestPath(raw: "/main/v1/ready"))
    let authentication = CallerAuthentication(fixture.context)
    let routes = ServerEndpoints(context: fixture.context, readiness: readiness).routes(beside: [])
    let route = try #require(routes.first { $0.endpoint.id == "ready" })
    #expect(await route.response(to: request, authentication)?.status == 200)
    for value in ["127.0.0.1", ""] {
      if let field { request.headers[field] = value } else { request.remoteAddress = "192.0.2.1" }
      #expect(await route.response(to: request, authentication)?.status == 404)
    }
    // The request caused no check.
    #expect(await readiness.count == 1)
  }

  @Test("a result is cached for a second, and each change is logged once")
  func ages() async throws {
    let time = VirtualTimer()
    let fixture = try ServerFixture(on: .sqlite, timer: time)
    let readiness = Readiness(fixture.context)
    #expect(await readiness.failure() == nil)
    time.advance(by: .milliseconds(999))
    #expect(await readiness.failure() == nil)
    #expect(await readiness.count == 1)
    let path = fixture.folder.path + "/signet.sqlite"
    #expect(rename(path, path + ".away") == 0)
    time.advance(by: .milliseconds(1))
    for _ in 0..<3 { #expect(await readiness.failure() != nil) }
    #expect(await readiness.count == 2)
    #expect(rename(path + ".away", path) == 0)
    #expect(await readiness.failure() != nil)
    time.advance(by: .seconds(1))
    #expect(await readiness.failure() == nil)
    #expect(await readiness.count == 3)
    let events = fixture.capture.lines
    #expect(events.filter { $0.contains("ready.failed") }.count == 1)
    #expect(events.filter { $0.contains("ready.restored") }.count == 1)
  }

  /// A separate database that the test may damage.
  private static func ownDatabase() throws -> (name: String, storage: Storage) {
    let server = try PrivatePostgreSQL.shared()
    let name = try server.makeDatabase()
    return (name, try Storage.open(.server(server.address(name))))
  }

  @Test(
    "a PostgreSQL database that is missing, or whose table is missing, replaced or not readable, is not ready",
    .enabled(if: PrivatePostgreSQL.isPossible),
    arguments: [
      "DROP TABLE transactions CASCADE",
      "ALTER TABLE signing_keys RENAME TO other; CREATE TABLE signing_keys (LIKE other INCLUDING ALL)",
      "ALTER SCHEMA public RENAME TO elsewhere", nil,
    ])
  func takenApart(_ change: String?) async throws {
    let server = try PrivatePostgreSQL.shared()
    let (name, storage) = try Self.ownDatabase()
    for _ in 0..<2 { try await storage.checkReadiness(at: 1_000) }
    if let change {
      try server.run(change, in: name)
    } else {
      try server.run("DROP DATABASE \(name) WITH (FORCE)")
    }
    await #expect(throws: StorageFailure.self) { try await storage.checkReadiness(at: 1_001) }
    await storage.close()
  }

  private static let ofTransactions = "AND relation = 'transactions'::regclass"

  @Test(
    "a PostgreSQL database with a locked table is not ready until the lock ends",
    .enabled(if: PrivatePostgreSQL.isPossible))
  func locked() async throws {
    let server = try PrivatePostgreSQL.shared()
    let (name, storage) = try Self.ownDatabase()
    let holder = try ChildCommand(
      [
        "psql", "-XAtq", "-d", server.address(name), "-c",
        "BEGIN; LOCK TABLE transactions; SELECT pg_sleep(120)",
      ], output: .none, errorOutput: .none
    ).start()
    defer { holder.send(SIGKILL) }
    let isHeld =

      "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted \(Self.ofTransactions)"
    while try server.run(isHeld, in: name) == "0" { try await Task.sleep(for: .milliseconds(20)) }
    let start = ContinuousClock.now
    await #expect(throws: StorageFailure.self) { try await storage.checkReadiness(at: 1_000) }
    #expect(ContinuousClock.now - start >= .seconds(4), "the check's own time-out, and not the lock's")
    try server.run(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'AccessExclusiveLock' \(Self.ofTransactions)",
      in: name)
    while try server.run(isHeld, in: name) != "0" { try await Task.sleep(for: .milliseconds(20)) }
    try await storage.checkReadiness(at: 1_001)
    await storage.close()
  }

  @Test(
    "concurrent readiness checks of a PostgreSQL database do not disturb writers",
    .enabled(if: PrivatePostgreSQL.isPossible))
  func together() async throws {
    let server = try PrivatePostgreSQL.shared()
    let (name, storage) = try Self.ownDatabase()
    let other = try Storage.open(.server(server.address(name)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for one in [storage, other, storage, other] {
        group.addTask { for time in 0..<20 { try await one.checkReadiness(at: 1_000 + Int64(time)) } }
      }
      try await group.waitForAll()
    }
    #expect(try server.run("SELECT count(*) FROM requests", in: name) == "1")
    await storage.close()
    await other.close()
  }
}
