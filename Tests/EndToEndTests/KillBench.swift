import Foundation
import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// A server with clients, and kills of either side at random moments.
struct KillBench {
  /// The side that is ended with `SIGKILL`.
  enum Victim: String, CaseIterable {
    case device
    case server

    /// Returns the victim of a round: in turn if there are few rounds, otherwise at random.
    static func inRound(_ round: Int, using random: inout SeededRandom) -> Victim {
      if KillCount.wanted == nil { return allCases[round % allCases.count] }
      return allCases.randomElement(using: &random) ?? .device
    }
  }

  private(set) var server: RunningServer
  var random: SeededRandom
  /// The kills that came while the command ran.
  private(set) var kills = 0
  /// The duration of each undisturbed command.
  private var durations: [String: Duration] = [:]
  /// The current step, for failure messages.
  private(set) var step = ""
  /// The disturbed commands since the last ``beginRound()``, with their outcomes.
  private(set) var history: [String] = []

  init(_ server: RunningServer, _ random: SeededRandom) { (self.server, self.random) = (server, random) }

  /// Runs an undisturbed command and records its duration.
  mutating func measure(_ name: String, _ process: ChildCommand) async throws -> ServerCommand.Result {
    let start = ContinuousClock.now
    let result = try await process.finish()
    durations[name] = start.duration(to: .now)
    return result
  }

  /// Clears the history of earlier rounds.
  mutating func beginRound() { history = [] }

  /// Runs a command and kills it, or the server, during its course; afterwards the server runs again.
  ///
  /// The moment is random on purpose. If the command had ended before, the next kill comes earlier, otherwise later, so that
  /// kills cover its whole course under any load.
  mutating func run(_ name: String, _ victim: Victim, _ process: ChildCommand) async throws
    -> ServerCommand.Result
  {
    let whole = durations[name] ?? .milliseconds(100)
    let delay = whole * Double.random(in: 0..<1, using: &random)
    step = "\(name), \(victim.rawValue) killed after \(delay) of \(whole)"
    let running = try process.start()
    try await Task.sleep(for: delay)
    let wasRunning = running.isRunning
    durations[name] = wasRunning ? whole * 1.1 : delay
    let result: ServerCommand.Result
    switch victim {
    case .device:
      running.kill()
      result = try await running.result()
      if result.status == -SIGKILL { kills += 1 }
      try checkServer()
    case .server:
      await server.killAndWait()
      if wasRunning { kills += 1 }
      result = try await running.result()
      try checkServer()
      server = try await server.again()
    }
    history.append("\(step): \(result.summary)")
    return result
  }

  /// Checks that the server's database is intact.
  private func checkServer() throws { try Self.checkDatabase("\(server.data)/signet.sqlite", comment) }

  /// Checks that a database opens and is intact.
  static func checkDatabase(_ path: String, _ comment: Comment) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    let database = try Database(path: path, mode: .readWrite)
    let rows = try database.query("PRAGMA integrity_check")
    #expect(rows.first?[0] == .text("ok"), comment)
  }

  var comment: Comment { "\(step)" }
}

/// The number of kills of each kill test: ``KillCount/wanted``, or a few.
enum KillRounds {
  static let count = KillCount.wanted ?? 3

  /// The number for tests with long rounds that kill in each step: one, or the same as for others in a long run.
  static let longCount = KillCount.wanted ?? 1

  /// The number for tests whose rounds kill one of two sides, so that each side is killed once.
  static let pairCount = KillCount.wanted ?? 2

  /// The number of rounds of a test that repeats a race without kills; `make test` has `few`.
  static func races(_ few: Int) -> Int { KillCount.wanted ?? few }

  /// The time limit for that many rounds on a busy machine.
  static let timeLimit: TimeLimitTrait.Duration = .minutes(5 + count)

  /// The steps at which a program is killed: the first, the last and a few between; all with `SIGNET_KILLS`.
  static func steps(of total: Int, using random: inout SeededRandom) throws -> [Int] {
    try #require(total > 0, "no step was counted")
    guard KillCount.wanted == nil, total > count else { return Array(1...total) }
    return ([1, total] + (2..<total).shuffled(using: &random).prefix(count - 2)).sorted()
  }
}
