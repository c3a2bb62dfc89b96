import Foundation
import SignetSQL
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

/// Failures of a database.
@Suite(.timeLimit(.minutes(10))) struct SQLFailureTests {
  private struct Crash: Error {}

  @Test(
    "a step whose connection breaks before COMMIT is rolled back", arguments: Backend.here, 0..<5)
  func brokenConnection(_ backend: Backend, _ place: Int) async throws {
    let fixture = try SQLFixture(backend)
    try await fixture.open().close()
    let count = Mutex(0)
    let sawCommit = Mutex(false)
    let observer = SQLObserver { sql in
      let index = count.withLock { count in
        defer { count += 1 }
        return count
      }
      guard index == place else { return }
      if sql == "COMMIT" { sawCommit.withLock { $0 = true } }
      if backend == .sqlite { throw Crash() }
      try fixture.terminateConnections()
    }
    let database = try fixture.open(connections: 1, observer: observer)
    let result = await Result {
      try await database.write { connection in
        try connection.add("a", 1)
        try connection.add("b", 1)
      }.value
    }
    let rows = try await database.read { try $0.rows("SELECT id FROM items ORDER BY id") { try $0.text(0) } }
      .value
    switch result {
    case .success: #expect(rows == ["a", "b"])
    case .failure(let error):
      #expect(rows.isEmpty)
      if backend == .postgreSQL { #expect(error as? SQLFailure == .outcomeUnknown) }
    }
    // BEGIN, two statements, COMMIT: statements before COMMIT are repeated, on a new connection or apart from the other steps of
    // a commit.
    if place > 3 || (place > 0 && !sawCommit.withLock { $0 }) {
      #expect(throws: Never.self) { try result.get() }
    }
  }

  @Test("a lost answer is a failure although the change was committed", arguments: Backend.here)
  func lostAnswer(_ backend: Backend) async throws {
    let fixture = try SQLFixture(backend)
    let database = try fixture.open(observer: SQLObserver(didCommit: { throw Crash() }))
    await #expect(throws: Crash.self) { try await database.write { try $0.add("a", 1) }.value }
    #expect(try await fixture.open().read { try $0.amount("a") }.value == 1)
  }

  @Test("a closed database completes running steps and accepts no more", arguments: Backend.here)
  func closing(_ backend: Backend) async throws {
    let database = try SQLFixture(backend).open()
    let steps = (0..<20).map { index in database.write { try $0.add("\(index)", 1) } }
    await database.close()
    for step in steps { try await step.value }
    #expect(await failure { try await database.write { try $0.add("x", 1) }.value } == .closed)
    #expect(await failure { try await database.read { try $0.amount("1") }.value } == .closed)
  }

  @Test(
    "an older schema is migrated, a newer and a foreign one are refused",
    arguments: Backend.here)
  func versions(_ backend: Backend) async throws {
    let fixture = try SQLFixture(backend)
    let one: SQLSchema.Migration = { dialect in SQLFixture.tables.flatMap { $0.statements(dialect) } }
    let two: SQLSchema.Migration = { dialect in
      [SQLTable.adding(.integer("size").optional, to: "items", dialect)]
    }
    let old = try fixture.open(SQLSchema([one]))
    try await old.write { try $0.add("a", 1) }.value
    await old.close()
    let new = try fixture.open(SQLSchema([one, two]))
    #expect(try await new.read { try $0.row("SELECT size FROM items") { $0[0] } }.value == .null)
    await new.close()
    #expect(throws: SQLFailure.otherSchema(found: 2, supported: 1)) { try fixture.open(SQLSchema([one])) }

    let other = try SQLFixture(backend)
    switch other.location {
    case .file(let path):
      try #require(try await ChildCommand(["sqlite3", path, "CREATE TABLE t (a)"]).finish().status == 0)
    default: try PrivatePostgreSQL.shared().run("CREATE TABLE t (a int)", in: other.name)
    }
    #expect(throws: SQLFailure.otherSchema(found: nil, supported: 1)) { try other.open() }
  }

  @Test("processes that start concurrently create one schema", arguments: Backend.here)
  func beginningAtOnce(_ backend: Backend) async throws {
    let fixture = try SQLFixture(backend)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<6 { group.addTask { try await fixture.open(connections: 1).close() } }
      try await group.waitForAll()
    }
  }

  @Test("unreachable files, non-databases and read-only files have different errors")
  func badFiles() throws {
    let folder = try TemporaryFolder()
    let open = { (path: String) in try SQLDatabase(.file(path), schema: SQLFixture.schema) }
    do {
      _ = try open(folder.file("none/test.sqlite"))
      Issue.record("a database in no folder was opened")
    } catch SQLFailure.unreachable {}
    try Data(
      "no database at all, but some text of more than a hundred bytes, that was put here by a test, twice over"
        .utf8
    )
    .write(to: URL(filePath: folder.file("text")))
    do {
      _ = try open(folder.file("text"))
      Issue.record("a text was opened")
    } catch SQLFailure.damaged {}
  }

  @Test(
    "unreachable servers, read-only databases and unknown databases have different errors",
    .enabled(if: PrivatePostgreSQL.isPossible))
  func badServers() throws {
    let server = try PrivatePostgreSQL.shared()
    let fixture = try SQLFixture(.postgreSQL)
    for address in ["host=/nowhere user=signet", server.address("none")] {
      do {
        _ = try SQLDatabase(.server(address), schema: SQLFixture.schema)
        Issue.record("\(address) was opened")
      } catch SQLFailure.unreachable(let reason) { #expect(!reason.isEmpty && !reason.contains("\n")) }
    }
    try server.run("ALTER DATABASE \(fixture.name) SET default_transaction_read_only = on")
    #expect(throws: SQLFailure.readOnly) { try fixture.open() }
  }

  @Test(
    "a standby server has its own error, and serves again as the primary",
    .enabled(if: PrivatePostgreSQL.isPossible))
  func standby() async throws {
    let server = try PrivatePostgreSQL()
    let address = try server.address(server.makeDatabase())
    let database = try SQLDatabase(.server(address), schema: SQLFixture.schema)
    try await database.write { try $0.add("a", 1) }.value
    try server.becomeStandby()
    #expect(await failure { try await database.write { try $0.add("b", 1) }.value } == .readOnly)
    #expect(await failure { try await database.read { try $0.amount("a") }.value } == .readOnly)
    #expect(throws: SQLFailure.readOnly) { try SQLDatabase(.server(address), schema: SQLFixture.schema) }
    try server.run("SELECT pg_promote()")
    try await database.write { try $0.add("b", 1) }.value
    #expect(try await database.read { try $0.amount("a") }.value == 1)
    await database.close()
  }

  /// A fake PostgreSQL server of any version, which accepts every login and closes the connection at the first request.
  private static let anyVersion = #"""
    import signal, socket, struct, sys
    signal.alarm(300)
    def message(kind, body):
        return kind + struct.pack(">i", len(body) + 4) + body
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    while True:
        client = listener.accept()[0]
        rest = struct.unpack(">i", client.recv(4))[0] - 4
        while rest > 0:
            rest -= len(client.recv(rest))
        version = b"server_version\0" + sys.argv[2].encode() + b"\0"
        client.sendall(message(b"R", struct.pack(">i", 0)) + message(b"S", version) + message(b"Z", b"I"))
        client.recv(1)
        client.close()
    """#
  private static let python = "/usr/bin/python3"

  @Test(
    "an outdated server is refused with its version and the required one",
    .enabled(if: ContinuousIntegration.isHere || FileManager.default.isExecutableFile(atPath: python)),
    arguments: [("9.6.24", true), ("12.22 (Debian 12.22-1)", true), ("13.0", false)])
  func oldServer(_ version: String, isTooOld: Bool) async throws {
    let folder = try TemporaryFolder()
    let server = try ChildCommand(
      [Self.python, "-c", Self.anyVersion, folder.file(".s.PGSQL.5432"), version], output: .pipe
    ).start()
    #expect(String(decoding: server.output.availableData, as: UTF8.self).hasPrefix("listening"))
    do {
      _ = try SQLDatabase(
        .server("host='\(folder.path)' user=signet dbname=signet"), schema: SQLFixture.schema)
      Issue.record("\(version) was opened")
    } catch SQLFailure.otherServer(let found) {
      #expect(isTooOld && found == version)
      #expect(
        SQLFailure.otherServer(version: found).description
          == "the database server has version \(version); use PostgreSQL 13 or newer")
    } catch SQLFailure.unreachable(let reason) { #expect(!isTooOld, "\(reason)") }
    server.kill()
    try await server.end()
  }

  @Test(
    "an invalid address, also one split by its password, is refused without being shown",
    arguments: [
      "postgres://signet:se%cret@127.0.0.1/signet", "postgres://signet:secret#x/y@127.0.0.1/signet",
      "postgres://signet:secret@[::1]x/signet", "postgres://signet:x@secret@127.0.0.1/signet",
      "postgres://signet:1/secret@127.0.0.1/signet", "postgres://signet:secret@127.0.0.1:port/signet",
    ])
  func addressWithPassword(_ address: String) throws {
    do {
      _ = try SQLDatabase(.server(address), schema: SQLFixture.schema)
      Issue.record("\(address) was opened")
    } catch let failure as SQLFailure {
      let text = "\(failure)"
      #expect(
        failure == .unreadableAddress(.form(hasUser: true)) && text.contains("percent-encoding"), "\(text)")
      #expect(!text.contains("secret") && !text.contains("%cret"), "\(text)")
    }
  }

  @Test(
    "an invalid address is refused, and the wrong part is named",
    arguments: [
      ("no connection string", SQLFailure.AddressFault.form(hasUser: false)),
      ("postgres://[127.0.0.1/signet", .form(hasUser: false)), ("postgres://127.0.0.1:port/signet", .port),
      ("postgres://127.0.0.1:0/signet", .port), ("postgres://127.0.0.1:99999/signet", .port),
      ("postgres://127.0.0.1:1,127.0.0.2:0/signet", .port),
      ("postgres://signet@127.0.0.1:65536/signet", .port),
      ("postgres://127.0.0.1/signet?sslmode=foo", .sslMode),
    ])
  func addressPart(_ address: String, _ fault: SQLFailure.AddressFault) throws {
    let failure = #expect(throws: SQLFailure.self) {
      _ = try SQLDatabase(.server(address), schema: SQLFixture.schema)
    }
    #expect(failure == .unreadableAddress(fault))
    #expect(failure?.description.contains("percent-encoding") == false)
  }

  @Test("a server is used again after it comes back", .enabled(if: PrivatePostgreSQL.isPossible))
  func reconnecting() async throws {
    let fixture = try SQLFixture(.postgreSQL)
    let database = try fixture.open(connections: 3)
    try await database.write { try $0.add("a", 1) }.value
    for _ in 0..<3 {
      try fixture.terminateConnections()
      #expect(try await database.read { try $0.amount("a") }.value == 1)
    }
  }

  @Test("a writer that waits too long for the lock gets an error", arguments: Backend.here)
  func busy(_ backend: Backend) async throws {
    let fixture = try SQLFixture(backend)
    let holder = try fixture.open()
    try await holder.write { try $0.add("a", 1) }.value
    let database = try fixture.open(busyMilliseconds: 50)
    let found = Mutex<SQLFailure?>(nil)
    try await holder.write { connection in
      _ = try connection.execute("UPDATE items SET amount = 2 WHERE id = 'a'")
      let ended = DispatchSemaphore(value: 0)
      database.write { try $0.execute("UPDATE items SET amount = 3 WHERE id = 'a'") }.then { result in
        if case .failure(let error) = result { found.withLock { $0 = error as? SQLFailure } }
        ended.signal()
      }
      ended.wait()
    }.value
    #expect(found.withLock { $0 } == .busy)
  }

  @Test(
    "no step that was acknowledged is lost when the process is killed", arguments: Backend.here, [40, 400])
  func killed(_ backend: Backend, _ milliseconds: Int) async throws {
    let fixture = try SQLFixture(backend)
    let words =
      switch fixture.location {
      case .file(let path): ["file", path]
      case .server(let address): ["server", address]
      case .memory: [String]()
      }
    let victim = try ChildCommand([try Programs.built("SQLVictim")] + words).start()
    while victim.outputSoFar.isEmpty && victim.isRunning { try await Task.sleep(for: .milliseconds(5)) }
    try await Task.sleep(for: .milliseconds(milliseconds))
    #expect(victim.kill())
    let result = try await victim.result()
    let acknowledged = result.output.split(separator: "\n").compactMap { Int64($0) }
    #expect(!acknowledged.isEmpty, "\(result.errorOutput)")
    let schema = SQLSchema(baseline: [SQLTable("numbers", [.integer("value").primaryKey])])
    let database = try SQLDatabase(fixture.location, schema: schema)
    let stored = try await database.read { try $0.rows("SELECT value FROM numbers") { try $0.integer(0) } }
      .value
    #expect(Set(acknowledged).isSubset(of: Set(stored)))
  }
}
