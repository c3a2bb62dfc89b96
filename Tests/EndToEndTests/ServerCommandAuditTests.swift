import Foundation
import SignetHTTPClient
import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// `signet-server audit verify`: offline, read-only, and complete in its detection.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ServerCommandAuditTests {
  /// A folder of a stopped server, with an audit log of six entries.
  private func stoppedServer() async throws -> RunningServer {
    let server = try await RunningServer.start()
    let client = try APIClient(server)
    for name in ["alice", "bob", "carol", "dave", "eve"] {
      _ = try await client.json(.post, "admin/users", ["user": .string(name)])
    }
    await server.stop()
    return server
  }

  private func verify(_ data: String, _ words: String...) async throws -> (status: Int32, report: JSONObject)
  {
    let result = try await ServerCommand.run(["audit", "verify", "--data", data, "--json"] + words)
    return (result.status, try JSONObject(parsing: Array(result.output.utf8)))
  }

  private func change(_ data: String, _ sql: String) throws {
    let database = try Database(path: "\(data)/signet.sqlite", mode: .readWrite)
    try database.execute(sql)
    #expect(database.changes > 0, "\(sql)")
  }

  @Test func acceptsWhatTheServerWrote() async throws {
    let server = try await stoppedServer()
    let (status, report) = try await verify(server.data)
    #expect(status == 0)
    #expect(report["intact"] == true)
    #expect(report["entries"] == 6)
    let head = try report.string("head")
    #expect(head.utf8.count == 64)
    let text = try await ServerCommand.run("audit", "verify", "--data", server.data)
    #expect(text.output == "Audit log: intact\nEntries  6\nHead     \(head)\n")
    // A recorded head is found again in a longer log.
    let again = try await RunningServer(server.folder, server.port)
    _ = try await again.json("user", "add", "frank")
    let grown = try await verify(server.data, "--head", head)
    #expect(grown.status == 0)
    #expect(grown.report["keptHeadEntry"] == 6)
    #expect(grown.report["entries"] == 7)
    await again.stop()
  }

  @Test func namesTheFirstBadEntry() async throws {
    let cases: [(sql: String, number: Int64)] = [
      ("UPDATE audit SET event = replace(event, 'user.added', 'user.deleted') WHERE number = 3", 3),
      ("UPDATE audit SET event = event || ' ' WHERE number = 1", 1),
      ("UPDATE audit SET hash = zeroblob(32) WHERE number = 4", 4),
      ("UPDATE audit SET hash = substr(hash, 1, 31) WHERE number = 2", 2),
      ("UPDATE audit SET number = 9 WHERE number = 6", 6),
      ("DELETE FROM audit WHERE number = 5", 5),
      ("DELETE FROM audit WHERE number = 1", 1),
      (
        """
        UPDATE audit SET event = (SELECT event FROM audit WHERE number = 5), \
        hash = (SELECT hash FROM audit WHERE number = 5) WHERE number = 4
        """, 4
      ),
      ("INSERT INTO audit (lane, number, event, hash) VALUES (0, 7, '{}', zeroblob(32))", 7),
      ("INSERT INTO audit (lane, number, event, hash) VALUES (0, 0, '{}', zeroblob(32))", 1),
    ]
    let server = try await stoppedServer()
    for (index, (sql, number)) in cases.enumerated() {
      // Each change is made to a separate copy.
      let data = "\(server.folder.path)/data-\(index)"
      try FileManager.default.copyItem(atPath: server.data, toPath: data)
      try change(data, sql)
      let (status, report) = try await verify(data)
      #expect(status == 1, "\(sql)")
      #expect(report["intact"] == false, "\(sql)")
      #expect(report["firstBadEntry"] == .integer(number), "\(sql)")
      #expect(report["entries"] == .integer(number - 1), "\(sql)")
      // The text output is made from the same report, so one case is enough.
      guard index == 0 else { continue }
      let text = try await ServerCommand.run("audit", "verify", "--data", data)
      #expect(text.status == 1)
      #expect(text.output.hasPrefix("Audit log: broken at entry \(number)\n"))
    }
  }

  @Test func missesACutEndOnlyWithoutAKeptHash() async throws {
    let server = try await stoppedServer()
    let head = try await verify(server.data).report.string("head")
    try change(server.data, "DELETE FROM audit WHERE number = 6")
    #expect(try await verify(server.data).status == 0)
    let (status, report) = try await verify(server.data, "--head", head)
    #expect(status == 1)
    #expect(report["intact"] == false)
    #expect(report["firstBadEntry"] == nil)
    let bad = try await ServerCommand.run("audit", "verify", "--data", server.data, "--head", "abc")
    #expect(bad.status == 64)
  }

  @Test func changesNothing() async throws {
    let server = try await stoppedServer()
    let copy = "\(server.folder.path)/copy"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    try FileManager.default.copyItem(
      atPath: "\(server.data)/signet.sqlite", toPath: "\(copy)/signet.sqlite")
    #expect(chmod("\(copy)/signet.sqlite", 0o400) == 0)
    #expect(chmod(copy, 0o500) == 0)
    let before = try Data(contentsOf: URL(filePath: "\(copy)/signet.sqlite"))
    #expect(try await verify(copy).status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: copy) == ["signet.sqlite"])
    #expect(try Data(contentsOf: URL(filePath: "\(copy)/signet.sqlite")) == before)
    #expect(chmod(copy, 0o700) == 0)
  }

  @Test func readsWhatAKilledServerLeft() async throws {
    let server = try await RunningServer.start()
    _ = try await server.json("user", "add", "alice")
    server.send(SIGKILL)
    #expect(await server.status() == -SIGKILL)
    let copy = "\(server.folder.path)/copy"
    try FileManager.default.copyItem(atPath: server.data, toPath: copy)
    unlink("\(copy)/signet.sqlite-shm")
    // The last entries are in the write-ahead log only.
    #expect(try await verify(copy).report["entries"] == 2)
    #expect(try await verify(server.data).report["entries"] == 2)
  }

  @Test func refusesWhatIsNoDatabase() async throws {
    let folder = try TemporaryFolder()
    let missing = try await ServerCommand.run("audit", "verify", "--data", folder.path)
    #expect(missing.status == 66)
    try Data(repeating: 0x41, count: 8192).write(to: URL(filePath: "\(folder.path)/signet.sqlite"))
    let damaged = try await ServerCommand.run("audit", "verify", "--data", folder.path)
    #expect(damaged.status == 74)
    #expect(damaged.errorOutput.contains("damaged or not a database"))
  }
}
