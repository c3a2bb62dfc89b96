import Foundation
import SignetJSON
import SignetSQLite
import SignetTestKit
import Testing

/// A server and the killing of it, or of what talks to it, at random moments.
struct KillBench {
  /// Who is ended with `SIGKILL`.
  enum Victim: String, CaseIterable {
    case device
    case server

    /// Who is killed in a round: one after the other where there are few rounds, and else whom chance has chosen.
    static func inRound(_ round: Int, using random: inout SeededRandom) -> Victim {
      if KillCount.wanted == nil { return allCases[round % allCases.count] }
      return allCases.randomElement(using: &random) ?? .device
    }
  }

  private(set) var server: RunningServer
  var random: SeededRandom
  /// The kills that came while the command ran.
  private(set) var kills = 0
  /// What each command took when nobody disturbed it.
  private var durations: [String: Duration] = [:]
  /// What is being done, to be printed with a failure.
  private(set) var step = ""
  /// The disturbed commands since the last ``beginRound()``, with what each of them came to.
  private(set) var history: [String] = []

  init(_ server: RunningServer, _ random: SeededRandom) { (self.server, self.random) = (server, random) }

  /// Runs an undisturbed command and remembers how long it takes.
  mutating func measure(_ name: String, _ process: ChildCommand) async throws -> ServerCommand.Result {
    let start = ContinuousClock.now
    let result = try await process.finish()
    durations[name] = start.duration(to: .now)
    return result
  }

  /// Forgets what earlier rounds came to.
  mutating func beginRound() { history = [] }

  /// Runs a command and kills it, or the server, somewhere in its course; afterwards the server runs again.
  ///
  /// The moment is random on purpose: nothing waits for it. Where the command has ended before, the next kill comes earlier, and
  /// else later, so that kills keep falling into all of its course however the load of the machine changes.
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

  /// The server's database is whole, whoever was killed.
  private func checkServer() throws { try Self.checkDatabase("\(server.data)/signet.sqlite", comment) }

  /// A database opens and is whole.
  static func checkDatabase(_ path: String, _ comment: Comment) throws {
    guard FileManager.default.fileExists(atPath: path) else { return }
    let database = try Database(path: path, mode: .readWrite)
    let rows = try database.query("PRAGMA integrity_check")
    #expect(rows.first?[0] == .text("ok"), comment)
  }

  var comment: Comment { "\(step)" }
}
