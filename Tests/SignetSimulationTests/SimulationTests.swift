import AccountModel
import Foundation
import PostgreSQLFixture
import SignetStorage
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

/// Random histories of several clients on two servers, compared with a model of the rules.
@Suite(.timeLimit(.minutes(240))) struct SimulationTests {
  /// As many histories as half a minute allows, or `SIGNET_HISTORIES`, starting at a seed.
  @Test("no acceptance breaks the rules, and none is lost")
  func histories() async throws {
    let random = SeededRandom(test: "histories")
    let wanted = ProcessInfo.processInfo.environment["SIGNET_HISTORIES"].flatMap(UInt64.init)
    let queue = Queue(first: random.seed, wanted: wanted)
    let failures = try await withThrowingTaskGroup(of: String?.self) { group in
      for number in 0..<2 {
        let thread = BlockingExecutor(label: "simulation \(number)")
        group.addTask { try await thread.run { Result { try Self.firstFailure(in: queue) } }.get() }
      }
      return try await group.reduce(into: [String]()) { all, failure in all += failure.map { [$0] } ?? [] }
    }
    print("\(queue.count) histories")
    #expect(failures == [], "SIGNET_SEED=\(random.seed)")
  }

  @Test("a seed gives the same run each time", arguments: 1...20 as ClosedRange<UInt64>)
  func repeats(_ seed: UInt64) throws {
    let (one, other) = (try Run(History(seed: seed)), try Run(History(seed: seed)))
    #expect(one.attempts == other.attempts)
    #expect(one.logs == other.logs)
    #expect(one.end == other.end)
    #expect(one.open == other.open)
    #expect(one.notices == other.notices)
  }

  @Test("a broken rule is found, with a short history")
  func finds() throws {
    // A history runs once and is judged for each rule whose absence was not detected yet.
    var rules: [Model.Rule] = [
      .activeUsersOnly, .countersGrow, .locksHold, .firstEndWins, .goodKeysOnly, .somebodyCanAnswer,
      .oneHolderOfAKey, .oneBudget, .shares, .goodClientsOnly, .tokensOnce, .proofsInUse, .deviceLocksHold,
      .tokensExpire, .requirementsAreMet, .claimsProveNothing, .pollsWait, .expiriesAreNoNews, .numbersMatch,
      .appsShowLittle, .tokensAreVerified, .wrongCodesWait, .wrongCodesLock,
    ]
    // Some of the rules, the same in each run, and others with `SIGNET_SEED`; `make history-test` covers all.
    if ProcessInfo.processInfo.environment["SIGNET_HISTORIES"] == nil {
      var random = SeededRandom(test: "rules that are not kept")
      rules = Array(rules.shuffled(using: &random).prefix(4))
    }
    // Shortening takes most of the time.
    var toShorten = ProcessInfo.processInfo.environment["SIGNET_HISTORIES"] == nil ? 2 : rules.count
    for seed in 0..<1000 as Range<UInt64> where !rules.isEmpty {
      let history = History(seed: seed)
      let run = try Run(history)
      let found = rules.filter {
        !Verdict(run, by: Model(without: $0, budget: History.budget)).violations.isEmpty
      }
      rules.removeAll { found.contains($0) }
      for rule in found.prefix(toShorten) {
        toShorten -= 1
        let short = try Self.shortened(history, without: rule)
        let violations = try Self.violations(of: short, without: rule)
        #expect(
          !violations.isEmpty && short.kept.count <= 12, "\(rule): \(Self.text(of: short))\n\(violations)")
      }
    }
    #expect(rules == [], "1000 histories do not show it")
  }

  /// 300 histories with `SIGNET_HISTORIES`, otherwise some of them.
  ///
  /// Real threads determine the order, so a seed gives another run each time. The log has a chain for each connection.
  @Test(
    "the same on PostgreSQL, which searches for a valid order", .enabled(if: PrivatePostgreSQL.isPossible))
  func historiesOnPostgreSQL() async throws {
    let random = SeededRandom(test: "histories on PostgreSQL")
    let wanted: UInt64 = ProcessInfo.processInfo.environment["SIGNET_HISTORIES"] == nil ? 60 : 300
    let numbers = Numbers(upTo: wanted)
    let failures = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<2 {
        group.addTask {
          let database = try EmptiedDatabase()
          while let number = numbers.next() {
            let history = History(seed: random.seed &+ number)
            let run = try await Run(history, on: database.emptied())
            let violations = Verdict(run).violations
            guard violations.isEmpty else {
              return "seed \(history.seed)\n\(Self.text(of: history))\n\(violations.joined(separator: "\n"))"
            }
          }
          await database.close()
          return nil
        }
      }
      return try await group.reduce(into: [String]()) { all, failure in all += failure.map { [$0] } ?? [] }
    }
    #expect(failures == [], "SIGNET_SEED=\(random.seed)")
  }

  /// Numbers of histories, each given to one task.
  private final class Numbers: Sendable {
    private let last: UInt64
    private let given = Mutex(0 as UInt64)

    init(upTo last: UInt64) { self.last = last }

    func next() -> UInt64? {
      given.withLock { given in
        guard given < last else { return nil }
        given += 1
        return given
      }
    }
  }

  /// A database on a server, which histories use in turn.
  private struct EmptiedDatabase: Sendable {
    private let server: PrivatePostgreSQL
    private let name: String
    private let storages: [Storage]

    init() throws {
      let server = try PrivatePostgreSQL.shared()
      let name = try server.makeDatabase()
      (self.server, self.name) = (server, name)
      storages = try (0..<History.serverCount).map { _ in
        try Storage.open(.server(server.address(name)), connections: 2)
      }
    }

    /// Empties the database and returns the servers' connections.
    func emptied() throws -> [Storage] {
      try server.run(
        """
        SET session_replication_role = replica;
        DO $$ DECLARE name text; BEGIN
          FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version' LOOP
            EXECUTE 'DELETE FROM ' || quote_ident(name);
          END LOOP;
        END $$
        """, in: name)
      return storages
    }

    func close() async { for storage in storages { await storage.close() } }
  }

  // MARK: One history

  /// Seeds of histories for several threads: the requested number, or until half a minute has passed.
  private final class Queue: Sendable {
    private let first: UInt64
    private let wanted: UInt64?
    private let deadline = ContinuousClock.now + .seconds(30)
    private let taken = Mutex<UInt64>(0)

    init(first: UInt64, wanted: UInt64?) { (self.first, self.wanted) = (first, wanted) }

    var count: UInt64 { taken.withLock(\.self) }

    func next() -> UInt64? {
      taken.withLock { taken in
        guard wanted.map({ taken < $0 }) ?? (ContinuousClock.now < deadline) else { return nil }
        taken += 1
        return first &+ (taken - 1)
      }
    }
  }

  private static func firstFailure(in queue: Queue) throws -> String? {
    while let seed = queue.next() {
      if let failure = try failure(of: History(seed: seed)) { return failure }
    }
    return nil
  }

  private static func violations(of history: History, without rule: Model.Rule? = nil) throws -> [String] {
    Verdict(try Run(history), by: Model(without: rule, budget: History.budget)).violations
  }

  /// The faults of a history, shortened; `nil` if there are none.
  private static func failure(of history: History) throws -> String? {
    guard try !violations(of: history).isEmpty else { return nil }
    let short = try shortened(history)
    return
      "seed \(history.seed), schedule \(short.schedule)\n\(text(of: short))\n\(try violations(of: short).joined(separator: "\n"))"
  }

  private static func text(of history: History) -> String {
    history.kept.map { "\($0) (client \(History.client(of: $0))): \(history.actions[$0])" }
      .joined(separator: "\n")
  }

  /// Removes actions that the fault does not need: first large parts, then single actions.
  private static func shortened(_ history: History, without rule: Model.Rule? = nil) throws -> History {
    var short = history
    var size = max(1, short.kept.count / 2)
    while true {
      var isShorter = false
      var start = 0
      while start < short.kept.count {
        var shorter = short
        shorter.kept.removeSubrange(start..<min(start + size, short.kept.count))
        // With fewer actions the same seed gives another schedule, so several are tried.
        let found = try (0..<8 as Range<UInt64>).first { number in
          shorter.schedule = history.seed &+ number
          return try !violations(of: shorter, without: rule).isEmpty
        }
        if found != nil {
          short = shorter
          isShorter = true
        } else {
          start += size
        }
      }
      if size == 1, !isShorter { return short }
      size = max(1, size / 2)
    }
  }
}
