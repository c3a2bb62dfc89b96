import Foundation
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// `signet-server` with its data in PostgreSQL: the main use, two processes, and database errors.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: PrivatePostgreSQL.isPossible))
struct DatabaseServerTests {
  /// The address of a new, empty database.
  private static func address() throws -> String {
    let server = try PrivatePostgreSQL.shared()
    return try server.uri(server.makeDatabase())
  }

  private static func start(_ address: String) async throws -> RunningServer {
    try await RunningServer.startWithShop(["--protection", "device", "--storage", address])
  }

  @Test(
    "activation, one-time password and approval work, and survive a restart")
  func mainJob() async throws {
    let server = try await Self.start(Self.address())
    #expect(!FileManager.default.fileExists(atPath: "\(server.data)/signet.sqlite"))
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    let code = try await device.json("otp").string("code")
    #expect(try await server.accepts(code, of: "alice"))
    let id = try await server.ask("alice", "Pay 250.00 EUR to Jane Doe")
    let approved = try await device.run("approve", id, "--yes")
    #expect(approved.status == 0, approved.summary)
    await server.stop()
    let again = try await RunningServer(server.folder, server.port)
    #expect(try await !again.accepts(code, of: "alice"), "the code was used before the restart")
    #expect(try await again.transaction(id).string("status") == "accepted")
    let verified = try await again.json("audit", "verify")
    #expect(verified["intact"] == true)
    let head = try verified.string("head")
    #expect(try await again.json("audit", "verify", "--head", head)["intact"] == true)
    #expect(try await again.audited("transaction.accepted").count == 1)
    await again.stop()
  }

  @Test("two processes on one database accept a code once")
  func twoProcesses() async throws {
    try await TwoProcessTests.acceptOneOfTwo(Self.start(Self.address()), rounds: KillRounds.races(3))
  }

  @Test("a changed audit entry is detected")
  func changedLog() async throws {
    let postgreSQL = try PrivatePostgreSQL.shared()
    let name = try postgreSQL.makeDatabase()
    let server = try await Self.start(postgreSQL.uri(name))
    await server.stop()
    try postgreSQL.run(
      "UPDATE audit SET event = replace(event, 'shop', 'shap') WHERE event LIKE '%shop%'", in: name)
    let result = try await server.run("audit", "verify")
    #expect(result.status == 1 && result.output.contains("broken at entry"), result.summary)
  }

  @Test("another server's database, an empty one and an unreachable one have different errors")
  func refusals() async throws {
    let postgreSQL = try PrivatePostgreSQL.shared()
    let name = try postgreSQL.makeDatabase()
    let server = try await Self.start(postgreSQL.uri(name))
    await server.stop()
    let other = try TemporaryFolder()
    let taken = try await ServerCommand.run([
      "init", "--data", "\(other.path)/data", "--url", "127.0.0.1:8443/main", "--storage",
      postgreSQL.uri(name),
    ])
    #expect(taken.isRefusal(taken.status, "contains the data of another server"), taken.summary)
    #expect(taken.status != 0)
    #expect(!FileManager.default.fileExists(atPath: "\(other.path)/data"))
    let word = try await ServerCommand.run([
      "init", "--data", "\(other.path)/data", "--url", "127.0.0.1:8443/main", "--storage", "mysql://a/b",
    ])
    #expect(word.isRefusal(64, "--storage begins with postgres:// or postgresql://"), word.summary)
    let unreadable = try await ServerCommand.run([
      "init", "--data", "\(other.path)/data", "--url", "127.0.0.1:8443/main", "--storage",
      "postgres://[127.0.0.1/main",
    ])
    #expect(
      unreadable.isRefusal(64, "--storage: the address of the database cannot be read"), unreadable.summary)
    #expect(!unreadable.errorOutput.contains("percent-encoding"), unreadable.summary)
    for (address, part) in [("127.0.0.1:0/main", "port"), ("127.0.0.1/main?sslmode=foo", "sslmode")] {
      let refused = try await ServerCommand.run([
        "init", "--data", "\(other.path)/data", "--url", "127.0.0.1:8443/main", "--storage",
        "postgres://\(address)",
      ])
      #expect(
        refused.isRefusal(64, "--storage: the \(part) in the address of the database is not one of"),
        refused.summary)
    }
    #expect(!FileManager.default.fileExists(atPath: "\(other.path)/data"))

    let backup = try await ServerCommand.run(["backup", "--data", server.data, "\(other.path)/copy"])
    #expect(backup.status != 0 && backup.errorOutput.contains("pg_dump"), backup.summary)
    #expect(!FileManager.default.fileExists(atPath: "\(other.path)/copy"))

    try postgreSQL.run("DROP DATABASE \(name)")
    let gone = try await ServerCommand.run(["serve", "--data", server.data])
    #expect(gone.status != 0 && gone.errorOutput.contains("cannot be reached"), gone.summary)
    try postgreSQL.run("CREATE DATABASE \(name)")
    let empty = try await ServerCommand.run(["serve", "--data", server.data])
    #expect(empty.status != 0 && empty.errorOutput.contains("the database is empty"), empty.summary)
    try RunningServer.changeSettings(of: server.data) { settings in
      settings["database"] = ["server": "postgres://[127.0.0.1/main"]
    }
    let mistyped = try await ServerCommand.run(["serve", "--data", server.data])
    #expect(mistyped.isRefusal(78, "the address of the database cannot be read"), mistyped.summary)
  }

  @Test("requests get 503 while the database is down, and succeed once it is back")
  func awayAndBack() async throws {
    let postgreSQL = try PrivatePostgreSQL.shared()
    let name = try postgreSQL.makeDatabase()
    let server = try await Self.start(postgreSQL.uri(name))
    try await server.addUser("alice")
    try postgreSQL.run("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
    try postgreSQL.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
    try await Self.expectBusy(server)
    try postgreSQL.run("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
    try await Self.expectAdded("bob", to: server)
  }

  /// Expects "try again" for a change, for the readiness check and for a command.
  private static func expectBusy(_ server: RunningServer) async throws {
    let client = try APIClient(server)
    let added = try await client.send(.post, "admin/users", ["user": "bob"])
    for response in [added, try await client.send(.get, "ready")] {
      let text = String(decoding: response.body, as: UTF8.self)
      #expect(response.status == 503 && response.header("Retry-After") == "1", "\(response.status) \(text)")
      #expect(text.contains("server.busy"), "\(text)")
    }
    #expect(try await client.send(.get, "live").status == 200)
    let refused = try await server.run("user", "add", "bob")
    #expect(refused.status == 75, refused.summary)
  }

  /// Expects that a server with one user adds another, and that nothing else was added.
  private static func expectAdded(_ user: String, to server: RunningServer) async throws {
    _ = try await server.json("user", "add", user)
    // Another connection writes a separate audit chain; a reader gets the chains one after the other.
    #expect(try await server.audited("user.added").map { try $0.string("user") }.sorted() == ["alice", user])
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test("on a read-only database changes get 503 and reads are served")
  func onlyReads() async throws {
    let postgreSQL = try PrivatePostgreSQL.shared()
    let name = try postgreSQL.makeDatabase()
    let server = try await Self.start(postgreSQL.uri(name))
    try await server.addUser("alice")
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'"
    try postgreSQL.run("ALTER DATABASE \(name) SET default_transaction_read_only = on")
    try postgreSQL.run(end)
    try await Self.expectBusy(server)
    #expect(try await APIClient(server).json(.get, "admin/users").array("users").count == 1)
    #expect(server.events.contains("why the database server is read-only"), "\(server.events)")
    try postgreSQL.run("ALTER DATABASE \(name) RESET default_transaction_read_only")
    try postgreSQL.run(end)
    try await Self.expectAdded("bob", to: server)
  }

  @Test("requests get 503 while the database server is a standby, and succeed once it is the primary")
  func standby() async throws {
    let postgreSQL = try PrivatePostgreSQL()
    let server = try await Self.start(postgreSQL.uri(postgreSQL.makeDatabase()))
    try await server.addUser("alice")
    try postgreSQL.becomeStandby()
    try await Self.expectBusy(server)
    #expect(try await APIClient(server).send(.get, "admin/users").status == 503)
    #expect(server.events.contains("why the database server is read-only"), "\(server.events)")
    try postgreSQL.run("SELECT pg_promote()")
    try await Self.expectAdded("bob", to: server)
    let other = try TemporaryFolder()
    let standby = try PrivatePostgreSQL()
    let address = try standby.uri(standby.makeDatabase())
    try standby.becomeStandby()
    let refused = try await ServerCommand.run([
      "init", "--data", "\(other.path)/data", "--url", "127.0.0.1:8443/main", "--storage", address,
    ])
    #expect(refused.isRefusal(77, "why the database server is read-only"), refused.summary)
    #expect(!FileManager.default.fileExists(atPath: "\(other.path)/data"))
  }
}
