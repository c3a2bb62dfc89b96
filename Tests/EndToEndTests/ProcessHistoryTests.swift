import AccountModel
import Foundation
import Signet
import SignetJSON
import SignetTestKit
import SignetTesting
import SignetTransport
import Synchronization
import Testing

/// Random histories of clients of two processes on one folder, of which one is killed now and then and started again: what was
/// acknowledged is there, and nothing was accepted that the rules refuse, as the model says that the random histories of
/// `SignetSimulationTests` are held against too.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ProcessHistoryTests {
  /// `SIGNET_KILLS` six times, which makes 300 of `make kill-test`, and else a few.
  private static let count = KillCount.wanted.map { $0 * 6 } ?? 3

  @Test("no acceptance that the rules refuse, and none that is lost, whatever is killed")
  func histories() async throws {
    let random = SeededRandom(test: "process histories")
    let pair = try await ProcessPair()
    var (deeds, lost, kills) = (0, 0, 0)
    var number = 0
    // Where all kills came too late, one history more.
    while number < Self.count || kills == 0 {
      try #require(number < Self.count + 20, "no kill comes in time")
      let history = try ProcessHistory(pair, number: number, seed: random.seed &+ UInt64(number))
      let found = try await history.run()
      deeds += found.deeds
      lost += found.lost
      kills += found.kills
      #expect(found.violations == [], "SIGNET_SEED=\(random.seed), history \(number)\n\(found.text)")
      guard found.violations.isEmpty else { break }
      number += 1
    }
    #expect(try await pair.first.json("audit", "verify")["intact"] == true)
    print(
      """
      process histories: \(number) histories, \(deeds) actions acknowledged, \(lost) answers lost, \(kills) kills
      """)
    #expect(deeds > number)
    await pair.stop()
  }
}

/// Two processes on one folder.
final class ProcessPair: Sendable {
  private let servers: Mutex<[RunningServer]>
  let ports: [UInt16]
  let keys: [String]
  private let memory: MemoryFolder

  init() async throws {
    let memory = try MemoryFolder()
    self.memory = memory
    // Each device has connections of its own, and all come from one address.
    let first = try await RunningServer.startWithShop(["--protection", "device"]) { _, settings in
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

  /// What a caller needs to reach a process.
  func connection(_ index: Int) throws -> ConnectionConfiguration {
    var configuration = ConnectionConfiguration(
      certificateAuthoritiesPEM: try String(contentsOfFile: first.authority, encoding: .utf8))
    configuration.connectAddress = ConnectAddress(address: "127.0.0.1", port: ports[index])
    return configuration
  }
}
