import Foundation
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// Liveness and readiness are separate checks, and a server without its data does not start.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReadinessTests {
  private static func ask(_ question: String, _ server: RunningServer) async throws -> Int {
    try await APIClient(server).send(.get, question).status
  }

  @Test("a healthy server is live and ready")
  func works() async throws {
    let server = try await RunningServer.start()
    for (question, word) in [("live", "live"), ("ready", "ready")] {
      let response = try await APIClient(server).send(.get, question)
      #expect(response.status == 200)
      #expect(try JSONObject(parsing: response.body).string("status") == word)
    }
    #expect(try await Self.ask("health", server) == 404)
    await server.stop()
  }

  @Test("a server whose database is locked is live but not ready, and is ready again afterwards")
  func held() async throws {
    let server = try await RunningServer.start()
    let holder = try await DatabaseHolder("\(server.data)/signet.sqlite")
    #expect(try await Self.ask("live", server) == 200)
    let refused = try await APIClient(server).send(.get, "ready")
    #expect(refused.status == 503 && refused.header("Retry-After") != nil)
    try await holder.release()
    // An answer is cached for a second.
    while try await Self.ask("ready", server) != 200 { try await Task.sleep(for: .milliseconds(100)) }
    await server.stop()
    let events = server.events
    #expect(events.ranges(of: "\"event\":\"ready.failed\"").count == 1, "\(events)")
    #expect(events.ranges(of: "\"event\":\"ready.restored\"").count == 1, "\(events)")
  }

  @Test(
    "a server with a damaged or missing database is live but not ready",
    arguments: ["damaged", "removed", "replaced"])
  func damaged(how: String) async throws {
    let first = try await RunningServer.start()
    _ = try await first.json("user", "add", "alice")
    await first.stop()
    let path = "\(first.data)/signet.sqlite"
    let server = try await RunningServer(first.folder, first.port)
    switch how {
    case "damaged": try damageFile(path, from: 4096)
    case "removed": try FileManager.default.removeItem(atPath: path)
    default:
      try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
      #expect(rename(path + ".copy", path) == 0)
    }
    #expect(try await Self.ask("live", server) == 200)
    #expect(try await Self.ask("ready", server) == 503)
    while !server.events.contains("\"event\":\"ready.failed\"") {
      try await Task.sleep(for: .milliseconds(20))
    }
    server.send(SIGKILL)
    _ = await server.status()
  }

  @Test(
    "a server with a missing PostgreSQL table is live but not ready",
    .enabled(if: PrivatePostgreSQL.isPossible))
  func tableIsGone() async throws {
    let postgreSQL = try PrivatePostgreSQL.shared()
    let name = try postgreSQL.makeDatabase()
    let server = try await RunningServer.start(["--storage", postgreSQL.uri(name)])
    #expect(try await Self.ask("ready", server) == 200)
    // The server's own steps lock the same tables one after the other, so the deletion can meet a deadlock.
    var isDropped = false
    while !isDropped {
      do {
        try postgreSQL.run("DROP TABLE transactions CASCADE", in: name)
        isDropped = true
      } catch { try #require("\(error)".contains("deadlock detected"), "\(error)") }
    }
    // An answer is cached for a second.
    while try await Self.ask("ready", server) == 200 { try await Task.sleep(for: .milliseconds(100)) }
    #expect(try await Self.ask("live", server) == 200)
    #expect(server.events.contains("the table \\\"transactions\\\" is missing"), "\(server.events)")
    await server.stop()
  }

  @Test(
    "a deleted key folder is created again; a server that cannot create it is not ready",
    .enabled(if: MemoryFolder.isThere))
  func runtime() async throws {
    let first = try await RunningServer.start()
    let memory = try MemoryFolder()
    let place = "\(memory.path)/keys"
    try first.changeSettings { $0["runtime"] = .string(place) }
    await first.stop()
    let server = try await RunningServer(first.folder, first.port)
    try FileManager.default.removeItem(atPath: place)
    #expect(FileManager.default.createFile(atPath: place, contents: nil))
    #expect(try await Self.ask("ready", server) == 503)
    try FileManager.default.removeItem(atPath: place)
    while try await Self.ask("ready", server) != 200 { try await Task.sleep(for: .milliseconds(100)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == 1)
    await server.stop()
    withExtendedLifetime(memory) {}
  }

  @Test(
    "a server with a full disk is live but not ready",
    .enabled(if: TinyDisk.isPossible, "needs the right to mount"))
  func full() async throws {
    let first = try await RunningServer.start()
    await first.stop()
    let disk = try TinyDisk(kilobytes: 4096)
    try FileManager.default.copyItem(atPath: first.data, toPath: disk.folder.file("data"))
    let server = try await RunningServer(disk.folder, first.port)
    #expect(try await Self.ask("ready", server) == 200)
    #expect(FileManager.default.createFile(atPath: disk.folder.file("ballast"), contents: nil))
    let ballast = try FileHandle(forWritingTo: URL(filePath: disk.folder.file("ballast")))
    for size in [65536, 4096, 1] {
      do { while true { try ballast.write(contentsOf: Data(repeating: 0, count: size)) } } catch {}
    }
    // Existing files have some free space inside; after that there is none.
    while try await Self.ask("ready", server) == 200 {
      _ = try await server.run("user", "add", "user-\(UInt32.random(in: 0 ... .max))")
    }
    #expect(try await Self.ask("live", server) == 200)
    #expect(try await Self.ask("ready", server) == 503)
    try ballast.truncate(atOffset: 0)
    while try await Self.ask("ready", server) != 200 { try await Task.sleep(for: .milliseconds(100)) }
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  /// The number of commits in the database's log: the frames that give the size of the database (sqlite.org/walformat.html).
  private static func commitCount(_ server: RunningServer) throws -> Int {
    let log = [UInt8](try Data(contentsOf: URL(filePath: "\(server.data)/signet.sqlite-wal")))
    // Nothing was written since the log was last emptied.
    guard log.count >= 32 else { return 0 }
    func number(_ place: Int) -> Int { log[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (headerSize, frameSize) = (32, 24 + number(8))
    // Frames of an earlier cycle of the log have other salts.
    return stride(from: headerSize, through: log.count - frameSize, by: frameSize).count {
      number($0 + 4) != 0 && log[$0 + 8..<$0 + 16] == log[16..<24]
    }
  }

  @Test("any number of readiness requests causes at most one write a second")
  func writes() async throws {
    let server = try await RunningServer.start()
    let client = try APIClient(server)
    let (before, start) = (try Self.commitCount(server), ContinuousClock.now)
    for _ in 0..<4 {
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<50 { group.addTask { try await client.send(.get, "ready").status } }
        for try await status in group { #expect(status == 200) }
      }
    }
    let seconds = Int(start.duration(to: .now).components.seconds)
    let written = try Self.commitCount(server) - before
    // One more at the beginning, and a few by the server's own minute timer; there were 200 requests.
    #expect((1...seconds + 11).contains(written), "\(written) in \(seconds) s")
    await server.stop()
  }

  @Test("only the operator's addresses see the readiness")
  func addresses() async throws {
    let server = try await RunningServer.start()
    func ask(_ question: String, from address: String) async throws -> String {
      try await ChildCommand([
        "/usr/bin/curl", "-sS", "--interface", address, "--cacert", server.authority, "-o", "/dev/null", "-w",
        "%{http_code}",
        "https://\(server.url)/v1/\(question)",
      ]).finish().output
    }
    #expect(try await ask("ready", from: "127.0.0.1") == "200")
    #expect(try await ask("ready", from: "127.0.0.2") == "404")
    #expect(try await ask("live", from: "127.0.0.2") == "200")
    try server.changeSettings { $0["operator"] = ["addresses": ["127.0.0.2", "::1"]] }
    server.send(SIGHUP)
    while !server.events.contains("\"event\":\"reload.done\"") {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try await ask("ready", from: "127.0.0.1") == "404")
    #expect(try await ask("ready", from: "127.0.0.2") == "200")
    await server.stop()
  }

  @Test("an empty database is refused at start, with the remedy", arguments: [0, 4096])
  func empty(byteCount: Int) async throws {
    let server = try await RunningServer.start()
    await server.stop()
    let path = "\(server.data)/signet.sqlite"
    try FileManager.default.removeItem(atPath: path)
    if byteCount == 0 {
      #expect(
        FileManager.default.createFile(atPath: path, contents: Data(), attributes: [.posixPermissions: 0o600])
      )
    } else {
      let made = try await ChildCommand(
        ["/usr/bin/sqlite3", path, "CREATE TABLE a (b); DROP TABLE a; VACUUM"]).finish()
      #expect(made.status == 0, "\(made.errorOutput)")
      #expect(chmod(path, 0o600) == 0)
    }
    let refused = try await server.run("serve")
    #expect(refused.status == 78)
    #expect(refused.errorOutput.contains("is empty"), "\(refused.errorOutput)")
    #expect(refused.errorOutput.contains("signet-server restore"), "\(refused.errorOutput)")
    #expect(!refused.errorOutput.contains("server.started"))
  }
}
