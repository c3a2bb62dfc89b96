import AccountModel
import Foundation
import PostgreSQLFixture
import Signet
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetTesting
import SignetTestKit
import Synchronization
import Testing

/// A random history of three clients of two processes, with kills.
final class ProcessHistory: Sendable {
  static let userCount = 3
  static let clientCount = 3
  static let actionCount = 20
  static let killCount = 3

  /// The answer to an attempt.
  enum Answer: Hashable, Sendable {
    case accepted, refused, lost
    /// A rejection that has changed the state; the text is the outcome that the model must give.
    case found(String)
  }

  struct State {
    var moment = 0
    var deeds: [Deed] = []
    var text: [String] = []
    /// The number of acknowledged deeds of each kind.
    var acknowledged: [String: Int] = [:]
    var lost = 0
    var containers: [Held] = []
    /// The IDs of all containers that a device has or had.
    var made: Set<String> = []
    var keys: [HeldKey] = []
    var apps: [HeldApp] = []
    var messages: [HeldMessage] = []
    /// The IDs of all acknowledged requests.
    var requests: [String] = []
    /// The user of each request that is not for an app alone.
    var asked: [String: String] = [:]
    /// Requests that expire soon, and expired ones with their users.
    var expiring: [Expiring] = []
    var over: [String: String] = [:]
    /// Activations that may have been finished without an answer.
    var uncertain: [Uncertain] = []
    /// Renewals in progress, by the ID of the container that they renew.
    var renewals: [String: Renewal] = [:]
    var deviceCount: UInt8 = 0
    var kills = 0
    var ended = 0
    var violations: [String] = []

    /// Returns a number for a device without another container.
    mutating func newDevice() -> UInt8 {
      deviceCount += 1
      return deviceCount
    }

    mutating func tick() -> Int {
      moment += 1
      return moment
    }

    /// Records an acknowledged deed and returns its index.
    @discardableResult
    mutating func acknowledge(
      _ kind: String, from begin: Int, to end: Int, after place: Int? = nil,
      isRight: @escaping @Sendable (inout Model) -> Bool
    ) -> Int {
      acknowledged[kind, default: 0] += 1
      deeds.append(Deed(from: begin, to: end, after: place, isRight: isRight))
      return deeds.count - 1
    }
  }

  /// The outcome of a history.
  struct Found: Sendable {
    let acknowledged: [String: Int]
    let lost: Int
    let kills: Int
    let violations: [String]
    /// The log of all attempts, for the analysis of a failure.
    let text: String
  }

  let pair: ProcessPair
  let number: Int
  let operators: [HistoryCaller]
  let parties: [[HistoryCaller]]
  let state = Mutex(State())
  private let seed: UInt64

  init(_ pair: ProcessPair, number: Int, seed: UInt64) throws {
    (self.pair, self.number, self.seed) = (pair, number, seed)
    let operatorKey = "\(pair.first.data)/admin.key"
    operators = try [0, 1].map { try HistoryCaller(pair, $0, operatorKey) }
    parties = try pair.keys.map { key in try [0, 1].map { try HistoryCaller(pair, $0, key) } }
  }

  func user(_ index: Int) -> String { "h\(number)-\(index)" }

  /// The name in the model of an object that the server has named; it has no number at the end, so ``Traits`` derive nothing from
  /// it.
  static func name(_ id: String) -> String { "\(id)." }

  /// Runs the history.
  func run() async throws -> Found {
    for (index, _) in pair.keys.enumerated() {
      note(.addParty("party\(index)"), ["done"], .accepted, from: tick())
    }
    for index in 0..<Self.userCount {
      try await attempt(.addUser(user(index)), ["done"], 0) {
        try await self.operators[$0].call(.post, "admin/users", ["user": .string(self.user(index))])
      }
    }
    for index in 0..<2 {
      try await enrol(user(index), by: "setup-\(index)", SplitMix64(seed: seed))
      try await registerKey(of: user(index), by: "setup-\(index)", index, index)
      try await enrolApp(of: user(index), index)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<Self.clientCount { group.addTask { try await self.run(client) } }
      group.addTask { try await self.killSome() }
      group.addTask { try await self.watchExpiries() }
      try await group.waitForAll()
    }
    try await answerLate()
    return try await judged()
  }

  /// Kills processes at random moments on purpose; nothing waits for them.
  private func killSome() async throws {
    var random = SplitMix64(seed: seed &* 31)
    for _ in 0..<Self.killCount {
      try await Task.sleep(for: .milliseconds(Int(random.next() % 200)))
      guard state.withLock({ $0.ended < Self.clientCount }) else { return }
      try await pair.kill(Int(random.next() % 2))
      state.withLock { $0.kills += 1 }
    }
  }

  // MARK: Clients

  private func run(_ client: Int) async throws {
    var random = SplitMix64(seed: seed &* 1009 &+ UInt64(client))
    for place in 0..<Self.actionCount { try await perform(Turn("\(client).\(place)", self, &random)) }
    state.withLock { $0.ended += 1 }
  }

  /// The random values for a client's next action.
  struct Turn: Sendable {
    /// The name of the objects that it makes.
    let name: String
    let user: String
    let server: Int
    let party: Int
    let first, second: UInt64
    let isYes: Bool
    let kind: Int
    let random: SplitMix64

    fileprivate init(_ name: String, _ history: ProcessHistory, _ random: inout SplitMix64) {
      self.name = name
      user = history.user(random.next(below: ProcessHistory.userCount))
      (server, party) = (random.next(below: 2), random.next(below: 2))
      (first, second) = (random.next(), random.next())
      isYes = random.next(below: 3) > 0
      kind = random.next(below: 100)
      self.random = random
    }

    /// Returns one of the values; `nil` if there are none.
    func one<Value>(of values: [Value]) -> Value? {
      values.isEmpty ? nil : values[Int(first % UInt64(values.count))]
    }
  }

  private func perform(_ turn: Turn) async throws {
    let (user, server) = (turn.user, turn.server)
    switch turn.kind {
    case 0..<4:
      try await change(
        .suspend(user), ["changed", "unchanged"], server, .post, "admin/users/\(user)/suspend", [:])
    case 4..<13:
      try await change(.resume(user), ["changed", "unchanged"], server, .post, "admin/users/\(user)/resume")
    case 13..<14:
      try await change(.delete(user), ["changed", "unchanged"], server, .delete, "admin/users/\(user)")
    case 14..<20: try await enrol(user, by: turn.name, turn.random)
    case 20..<57: try await performWithContainer(turn)
    case 57..<67: try await ask(turn)
    case 67..<70: try await withdraw(turn)
    case 70..<87: try await performWithKey(turn)
    default: try await performWithApp(turn)
    }
  }

  func change(
    _ step: Step, _ right: Set<String>, _ server: Int, _ method: HTTPMethod, _ path: String,
    _ body: JSONObject? = nil
  ) async throws {
    try await attempt(step, right, server) { try await self.operators[$0].call(method, path, body) }
  }

  // MARK: What is seen

  /// Makes an attempt, and repeats it if its answer was lost.
  ///
  /// Each repetition may use another name, since the one before may have made an object too.
  @discardableResult
  func attempt(
    _ right: Set<String>, _ server: Int, step: (_ repetition: Int) -> Step,
    _ call: (_ server: Int) async throws -> Answer
  ) async throws -> Answer {
    var server = server
    for repetition in 0..<200 {
      let (begin, step) = (tick(), step(repetition))
      let answer = try await call(server)
      note(step, right, answer, from: begin)
      guard answer == .lost else { return answer }
      // The other process, or this one once it runs again.
      server = 1 - server
      try await Task.sleep(for: .milliseconds(20))
    }
    throw NobodyAnswers()
  }

  @discardableResult
  func attempt(
    _ step: Step, _ right: Set<String>, _ server: Int, _ call: (_ server: Int) async throws -> Answer
  ) async throws -> Answer {
    try await attempt(right, server, step: { _ in step }, call)
  }

  struct NobodyAnswers: Error {}

  func tick() -> Int { state.withLock { $0.tick() } }

  /// Records an attempt; a rejected one has changed nothing.
  ///
  /// - Returns: The index of the deed, if it was acknowledged.
  @discardableResult
  func note(_ step: Step, _ right: Set<String>, _ answer: Answer, from begin: Int) -> Int? {
    let end = tick()
    return state.withLock { state in
      state.text.append("\(begin)-\(end) \(step): \(answer)")
      switch answer {
      case .refused: return nil
      case .accepted:
        return state.acknowledge(Self.kind(of: step), from: begin, to: end) {
          right.contains($0.take(step, at: Self.time(of: step)))
        }
      case .found(let outcome):
        return state.acknowledge(outcome, from: begin, to: end) {
          $0.take(step, at: Self.time(of: step)) == outcome
        }
      case .lost:
        state.lost += 1
        noteLost(from: begin, to: end, in: &state) { _ = $0.take(step, at: Self.time(of: step)) }
        return nil
      }
    }
  }

  /// Records a deed that may have been done.
  ///
  /// When the caller notices that its process was killed, the outcome of the deed is fixed. Only a database server may still do
  /// it afterwards.
  func noteLost(
    from begin: Int, to end: Int, in state: inout State, _ change: @escaping @Sendable (inout Model) -> Void
  ) {
    let isOver = pair.backend == .sqlite
    state.deeds.append(
      Deed(from: begin, to: isOver ? end : .max, mayBeAbsent: true) {
        change(&$0)
        return true
      })
  }

  private static func kind(of step: Step) -> String { String("\(step)".prefix { $0 != "(" }) }

  /// The model's time of a step: for a code, the time of its making; otherwise 0, when nothing has expired.
  private static func time(of step: Step) -> Int64 {
    if case .code(_, _, let counter, _, _) = step { counter * Traits.period } else { 0 }
  }
}
