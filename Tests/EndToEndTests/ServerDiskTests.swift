import Foundation
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetOATH
import SignetTestKit
import Synchronization
import Testing

/// A server whose database is locked by another process, or whose disk is full, slow or failing.
///
/// It refuses clearly, uses nothing up, and works normally afterwards without a restart.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerDiskTests {
  private static let secret = Array("a secret of 20 bytes".utf8)

  /// Adds a user with a counter token whose first code is used.
  private func addUser(_ server: RunningServer) async throws {
    let token: JSONObject = [
      "serial": "T1", "kind": "hotp", "digits": 8, "secret": .string(Base64URL.encode(Self.secret)),
    ]
    try await APIClient(server).addUser("alice", token, firstCode: Self.code(0))
  }

  private static func code(_ counter: UInt64) throws -> String {
    try HOTP(secret: SecretBytes(copying: secret), digits: 8).code(at: counter)
  }

  /// Validates a code as one of many clients, so that none has to wait.
  private static func validate(
    _ counter: UInt64, _ shop: APIClient, from client: String = "client"
  ) async throws -> HTTPResponse {
    let body: JSONObject = [
      "user": "alice", "code": .string(try code(counter)), "client": .string("\(client)-\(counter)"),
    ]
    return try await shop.send(.post, "otp/validate", body)
  }

  private static func isValid(_ response: HTTPResponse) throws -> Bool {
    try #require(response.status == 200, "status \(response.status)")
    return try JSONObject(parsing: response.body).bool("valid")
  }

  @Test("another process locks the database") func lockedByAnother() async throws {
    let server = try await RunningServer.startWithShop { $1["database"] = ["busyTimeout": 1] }
    try await addUser(server)
    let shop = try APIClient(server, keyFile: server.shopKey)
    let holder = try await DatabaseHolder("\(server.data)/signet.sqlite")
    let refused = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
      for number in 0..<8 {
        group.addTask { try await Self.validate(1, shop, from: "held-\(number)") }
      }
      // Reads are still served.
      #expect(try await shop.send(.get, "live").status == 200)
      #expect(try await APIClient(server).json(.get, "admin/users").array("users").count == 1)
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for response in refused {
      #expect(response.status == 503)
      #expect(response.header("Retry-After").flatMap { Int($0) } ?? 0 >= 1)
      #expect(String(decoding: response.body, as: UTF8.self).contains("server.busy"))
    }
    try await holder.release()
    #expect(try Self.isValid(await Self.validate(1, shop)))
    #expect(try Self.isValid(await Self.validate(1, shop, from: "again")) == false)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test(.enabled(if: TinyDisk.isPossible, "needs the right to mount"))
  func usesNoCodeUpOnAFullDisk() async throws {
    let first = try await RunningServer.startWithShop()
    try await addUser(first)
    await first.stop()
    let disk = try TinyDisk(kilobytes: 4096)
    try FileManager.default.copyItem(atPath: first.data, toPath: disk.folder.file("data"))
    try FileManager.default.copyItem(atPath: first.shopKey, toPath: disk.folder.file("shop.key"))
    let server = try await RunningServer(disk.folder, first.port)
    let shop = try APIClient(server, keyFile: server.shopKey)
    #expect(FileManager.default.createFile(atPath: disk.folder.file("ballast"), contents: nil))
    let ballast = try FileHandle(forWritingTo: URL(filePath: disk.folder.file("ballast")))
    for size in [65536, 4096, 1] {
      do { while true { try ballast.write(contentsOf: Data(repeating: 0, count: size)) } } catch {}
    }
    // Existing files have some free space inside; after that there is none.
    var counter: UInt64 = 1
    var response = try await Self.validate(counter, shop)
    while response.status == 200, counter < 2000 {
      #expect(try Self.isValid(response))
      counter += 1
      response = try await Self.validate(counter, shop)
    }
    #expect(response.status == 503 && response.header("Retry-After") != nil)
    #expect(String(decoding: response.body, as: UTF8.self).contains("server.busy"))
    #expect(try await shop.send(.get, "live").status == 200)
    try ballast.truncate(atOffset: 0)
    #expect(try Self.isValid(await Self.validate(counter, shop)))
    #expect(try Self.isValid(await Self.validate(counter, shop, from: "again")) == false)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test(
    "a slow disk: all requests are answered",
    .enabled(if: SlowedCalls.isPossible, "needs strace and the right to attach it"))
  func slowDisk() async throws {
    let server = try await RunningServer.startWithShop()
    let load = try CodeLoad(server, keyFile: server.shopKey, clients: 48)
    try await load.enrol()
    let shop = try APIClient(server, keyFile: server.shopKey)
    let slowed = try await SlowedCalls(server.processID, "delay_enter=600000000")
    // All requests are answered, since one commit holds many; reads do not wait for the disk.
    let answered = Counter()
    let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
      for user in 0..<48 {
        group.addTask {
          let isValid = try await load.validateNext(user)
          answered.increase()
          return isValid
        }
      }
      #expect(try await shop.send(.get, "live").status == 200)
      #expect(try await shop.send(.get, "transactions/none").status == 404)
      #expect(answered.value == 0, "the disk did not stand still")
      try await slowed.end()
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(accepted == 48)
    #expect(try await load.replay(from: "replay") == 0)
    for user in 0..<48 { #expect(try await load.validateNext(user)) }
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }

  @Test(
    "the disk fails temporarily",
    .enabled(if: SlowedCalls.isPossible, "needs strace and the right to attach it"))
  func failingDisk() async throws {
    let server = try await RunningServer.startWithShop()
    try await addUser(server)
    let shop = try APIClient(server, keyFile: server.shopKey)
    let failing = try await SlowedCalls(server.processID, "error=EIO")
    for _ in 0..<3 {
      let response = try await Self.validate(1, shop)
      #expect(response.status == 500)
      #expect(String(decoding: response.body, as: UTF8.self).contains("server.failure"))
    }
    #expect(try await shop.send(.get, "live").status == 200)
    try await failing.end()
    #expect(try Self.isValid(await Self.validate(1, shop)))
    #expect(try Self.isValid(await Self.validate(1, shop, from: "again")) == false)
    #expect(try await server.json("audit", "verify")["intact"] == true)
    await server.stop()
  }
}

/// Counts events of several tasks.
private final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func increase() { count.withLock { $0 += 1 } }
}

/// `strace`, attached to a process, which delays or fails its calls of `fsync` and `fdatasync` until it ends.
private final class SlowedCalls {
  private static let path = "/usr/bin/strace"
  private let process: ChildProcess

  /// Indicates whether a process that is no child can be traced: by root, and by others if Yama's `ptrace_scope` allows it.
  static var isPossible: Bool {
    guard FileManager.default.isExecutableFile(atPath: path) else {
      return ContinuousIntegration.isHere  // fails there
    }
    if geteuid() == 0 { return true }
    let scope = FileManager.default.contents(atPath: "/proc/sys/kernel/yama/ptrace_scope")
    return scope.map { String(decoding: $0, as: UTF8.self).hasPrefix("0") } ?? true
  }

  init(_ id: Int32, _ injection: String) async throws {
    process = try ChildCommand(
      [
        Self.path, "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
        "inject=fsync,fdatasync:\(injection)", "-p", "\(id)",
      ], errorOutput: .pipe
    ).start()
    // "strace: Process 1 attached with 12 threads"
    let line = try #require(await process.errorOutput.firstLine())
    try #require(line.contains("attached"), "\(line)")
  }

  deinit { process.kill() }

  /// Detaches from the process, which continues as before.
  func end() async throws {
    process.kill()
    try await process.end()
  }
}
