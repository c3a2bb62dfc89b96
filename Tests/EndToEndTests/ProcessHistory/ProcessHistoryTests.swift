import AccountModel
import Foundation
import PostgreSQLFixture
import Signet
import SignetHTTPClient
import SignetJSON
import SignetTesting
import SignetTestKit
import Synchronization
import SignetUAF
import Testing
import UAFFixture

/// Random histories of clients of two processes on one folder, with kills and restarts of the processes.
///
/// Acknowledged deeds persist, and nothing is accepted against the rules, by the same model as for the histories of
/// `SignetSimulationTests`.
@Suite(.serialized, .timeLimit(.minutes(120))) struct ProcessHistoryTests {
  /// The number of histories: `SIGNET_KILLS` times six on SQLite, which makes 300 in `make kill-test`; `SIGNET_KILLS` on
  /// PostgreSQL; otherwise a few.
  private static func count(on backend: StorageBackend) -> Int {
    switch backend {
    case .sqlite: KillCount.wanted.map { $0 * 6 } ?? 3
    case .postgreSQL: KillCount.wanted ?? 1
    }
  }

  /// The kinds of deeds that a long run must have had acknowledged, so that it cannot pass by rejecting all of them.
  private static let kinds = [
    "suspend", "resume", "delete", "invite", "finish", "renew", "revoke", "order", "wipe", "code", "ask",
    "decide", "withdraw", "expire", "register", "login", "removeKey", "registerApp", "message", "answer",
    "removeApp",
  ]

  @Test(
    "whichever process is killed, no acceptance breaks the rules and none is lost",
    arguments: StorageBackend.here)
  func histories(_ backend: StorageBackend) async throws {
    let random = SeededRandom(test: "process histories")
    let pair = try await ProcessPair(backend)
    var (lost, kills) = (0, 0)
    var acknowledged: [String: Int] = [:]
    var number = 0
    // If all kills came too late, one more history runs.
    while number < Self.count(on: backend) || kills == 0 {
      try #require(number < Self.count(on: backend) + 20, "no kill comes in time")
      let history = try ProcessHistory(pair, number: number, seed: random.seed &+ UInt64(number))
      let found = try await history.run()
      acknowledged.merge(found.acknowledged, uniquingKeysWith: +)
      lost += found.lost
      kills += found.kills
      #expect(found.violations == [], "SIGNET_SEED=\(random.seed), history \(number)\n\(found.text)")
      guard found.violations.isEmpty else { break }
      number += 1
    }
    #expect(try await pair.first.json("audit", "verify")["intact"] == true)
    let deeds = acknowledged.values.reduce(0, +)
    let each = acknowledged.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    print(
      """
      process histories on \(backend): \(number) histories, \(deeds) actions acknowledged, \(lost) answers lost, \(kills) kills; \
      \(each.joined(separator: ", "))
      """)
    #expect(deeds > number)
    if number >= 50 { for kind in Self.kinds { #expect(acknowledged[kind, default: 0] > 0, "\(kind)") } }
    await pair.stop()
  }
}

/// Two processes on one folder.
final class ProcessPair: Sendable {
  /// The application (facet) that the UAF client claims to be.
  static let facet = "linux:app-id:signet"

  let backend: StorageBackend
  private let servers: Mutex<[RunningServer]>
  let ports: [UInt16]
  let keys: [String]
  private let memory: MemoryFolder

  init(_ backend: StorageBackend) async throws {
    self.backend = backend
    let memory = try MemoryFolder()
    self.memory = memory
    var words = ["--protection", "device"]
    if backend == .postgreSQL {
      let server = try PrivatePostgreSQL.shared()
      words += ["--storage", try server.uri(server.makeDatabase())]
    }
    // Each device has separate connections, and all come from one address.
    let first = try await RunningServer.startWithShop(words) { data, settings in
      try FileManager.default.createDirectory(
        atPath: "\(data)/metadata", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
      let statement = Data(UAFTestKey().statement().json.bytes)
      let isWritten = FileManager.default.createFile(
        atPath: "\(data)/metadata/key.json", contents: statement, attributes: [.posixPermissions: 0o600])
      try #require(isWritten)
      settings["uaf"] = ["facets": [.string(Self.facet)], "metadata": "metadata"]
      settings["runtime"] = .string(memory.path)
      settings["connections"] = ["perAddress": 256]
    }
    let other = "\(first.folder.path)/market.key"
    _ = try await first.json("key", "create", "market", "--output", other)
    keys = [first.shopKey, other]
    ports = [first.port, try FreePort.find()]
    let second = try await RunningServer(first.folder, ports[1], ["--listen", "127.0.0.1:\(ports[1])"])
    servers = Mutex([first, second])
  }

  var first: RunningServer { servers.withLock { $0[0] } }

  /// Kills a process and starts it again.
  func kill(_ index: Int) async throws {
    let victim = servers.withLock { $0[index] }
    await victim.killAndWait()
    let next = try await start(index)
    servers.withLock { $0[index] = next }
  }

  private func start(_ index: Int) async throws -> RunningServer {
    try await RunningServer(
      first.folder, ports[index], index == 0 ? [] : ["--listen", "127.0.0.1:\(ports[index])"])
  }

  func stop() async { for server in servers.withLock(\.self) { await server.stop() } }

  /// The connection settings for a process.
  func connection(_ index: Int) throws -> ConnectionConfiguration {
    var configuration = ConnectionConfiguration(
      certificateAuthoritiesPEM: try String(contentsOfFile: first.authority, encoding: .utf8))
    configuration.connectAddress = ConnectAddress(address: "127.0.0.1", port: ports[index])
    return configuration
  }
}
