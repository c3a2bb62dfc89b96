import AccountModel
import SignetCrypto
import SignetServer
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTestKit
import Synchronization

/// A history as it was run: each client's answers, the audit log, and the final database.
struct Run: Sendable {
  let attempts: [Attempt]
  /// The entries of the audit log, each chain in the order in which its entries became durable.
  let logs: [[LogEntry]]
  /// The database's final objects in the form of ``Model/description``.
  let end: [String: String]
  /// The objects that could still be answered at the end, in the form of ``Model/open(at:)``, and the time of the end.
  let open: Set<String>
  let endTime: Int64
  /// The notifications to clients of OpenID Connect in order.
  let notices: [Notice]
  /// The time from which there were no faults, and the remaining notifications were sent.
  let calmTime: Int64
  /// The environment of the servers, with the times of their rounds.
  private let outside: Outside

  /// Runs a history on two servers over one database in memory.
  ///
  /// - Throws: ``StorageFailure`` if the database cannot be opened.
  init(_ history: History) throws {
    let database = try SimulatedDatabase.take()
    let scheduler = SeededScheduler(seed: history.schedule &* 31 &+ 7)
    try database.begin(with: scheduler)
    // With MACs under one server's key, so that a step that changes a row without its MAC is found.
    let server = database.storage.authenticatingRows(with: Sample.masterKey.rowKey())
    let world = try World(history, [Storage](repeating: server, count: History.serverCount), on: scheduler)
    let result = Mutex<Result<World.End, any Error>?>(nil)
    Task(executorPreference: scheduler) {
      do {
        try await world.run()
        let found = try await world.look()
        result.withLock { $0 = .success(found) }
      } catch { result.withLock { $0 = .failure(error) } }
    }
    scheduler.run()
    guard let found = result.withLock(\.self) else { throw Stuck() }
    (logs, end, open) = try found.get()
    (attempts, outside) = (world.attempts, world.outside)
    (notices, calmTime, endTime) = (outside.notices, outside.calmTime, outside.now)
    database.giveBack()
  }

  /// Runs a history on servers with separate connections to one empty database; the order of tasks is not controlled.
  ///
  /// - Throws: ``StorageFailure``.
  init(_ history: History, on servers: [Storage]) async throws {
    let world = try World(
      history, servers.map { $0.authenticatingRows(with: Sample.masterKey.rowKey()) }, on: nil)
    try await world.run()
    (logs, end, open) = try await world.look()
    (attempts, outside) = (world.attempts, world.outside)
    (notices, calmTime, endTime) = (outside.notices, outside.calmTime, outside.now)
  }

  /// The span of moments in which a server's own entry, in a notification round, can have become durable.
  func spanOfRounds(at time: Int64) -> (from: Int, to: Int)? { outside.span(of: time) }

  /// No task can continue, but the history has not ended.
  struct Stuck: Error {}
}

/// Two servers and their database while a history runs.
private final class World: Sendable {
  private struct State {
    var attempts: [Attempt] = []
    /// The number of crashes of each server.
    var falls = [Int](repeating: 0, count: History.serverCount)
    /// The indices of actions that have not ended, in order.
    var open: [Int]
    /// Clients that wait until the action at an index may begin.
    var waiting: [(place: Int, turn: CheckedContinuation<Void, Never>)] = []

    /// Actions far apart in a history run one after the other, even if those in between were left out.
    func mayBegin(_ place: Int) -> Bool { open.first.map { $0 >= place - History.window } ?? true }
  }

  /// The step was not begun, or its answer was lost.
  private struct Lost: Error {}

  let outside: Outside
  private let history: History
  private let servers: [Storage]
  private let desk: Desk
  /// The services' rules about authenticators that can answer a request.
  private let rules: AnswerRules
  private let state: Mutex<State>

  init(_ history: History, _ servers: [Storage], on executor: (any TaskExecutor)?) throws {
    (self.history, self.servers) = (history, servers)
    outside = Outside(seed: history.schedule)
    desk = try Desk(of: servers, outside, on: executor)
    rules = Self.rules(desk.judges.able)
    state = Mutex(State(open: history.kept))
  }

  var attempts: [Attempt] { state.withLock(\.attempts) }

  /// A server's storage for an attempt: one step of thirty is not begun, and one of thirty loses its answer.
  private func storage(of server: Int, for attempt: String) -> Storage {
    var random = SplitMix64(
      seed: attempt.utf8.reduce(history.schedule) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    let fate = random.next() % 30
    return servers[server].judging(by: rules).suffering(
      StepFaults {
        if fate == 0 { throw Lost() }
      } didEnd: {
        if fate == 1 { throw Lost() }
      })
  }

  /// Adds the log of requests that a step ends because no authenticator can answer them.
  private static func rules(_ able: AbleAuthenticators) -> AnswerRules {
    var rules = able.rules
    rules.ended = { request, cause in
      guard case .userAdded(let entry) = cause.event else { preconditionFailure("no event of a history") }
      return .sample("\(entry.text.prefix { $0 != " " }) ended \(request)")
    }
    return rules
  }

  // MARK: Clients

  /// Runs all clients, and sends the remaining notifications.
  func run() async throws {
    try await desk.open()
    await withTaskGroup { group in
      for client in 0..<History.clientCount { group.addTask { await self.run(client) } }
    }
    try await desk.sendAll()
  }

  private func run(_ client: Int) async {
    for place in history.kept where History.client(of: place) == client {
      await withCheckedContinuation { turn in
        let mayBegin = state.withLock { state in
          guard !state.mayBegin(place) else { return true }
          state.waiting.append((place, turn))
          return false
        }
        if mayBegin { turn.resume() }
      }
      await perform(place, server: client % History.serverCount)
      let next = state.withLock { state in
        state.open.removeAll { $0 == place }
        let next = state.waiting.filter { state.mayBegin($0.place) }
        state.waiting = state.waiting.filter { !state.mayBegin($0.place) }
        return next
      }
      for waiter in next { waiter.turn.resume() }
    }
  }

  private func perform(_ place: Int, server: Int) async {
    switch history.actions[place] {
    case .pass(let seconds): return outside.pass(seconds)
    case .crash:
      state.withLock { $0.falls[server] += 1 }
      return outside.bringDown(server)
    case .send: return await desk.send(by: server)
    default: break
    }
    for (number, step) in history.steps(of: place, at: outside.now).enumerated() {
      guard await take(step, named: "\(place).\(number)", server: server) else { return }
    }
  }

  /// Makes a step, and repeats it if its answer was lost.
  ///
  /// - Returns: Whether the next step of the same action is useful.
  private func take(_ step: Step, named name: String, server: Int) async -> Bool {
    for count in 0..<3 {
      let (index, time, falls) = state.withLock { state in
        let time = outside.now
        state.attempts.append(
          Attempt(name: "\(name).\(count)", step: step, time: time, began: outside.tick()))
        return (state.attempts.count - 1, time, state.falls[server])
      }
      var tokens = Desk.Tokens.none
      if case .issue(let request, let client) = step {
        tokens = await desk.tokens(for: "\(request)", of: "\(client)", at: time)
      }
      let answer =
        tokens == .refused
        ? "refused"
        : await storage(of: server, for: "\(name).\(count)").take(
          step, by: desk.judges, named: "\(name).\(count)", at: time)
      let isHeard = state.withLock { state in
        state.attempts[index].ended = outside.tick()
        if case .made(let claims) = tokens { state.attempts[index].claims = claims }
        guard state.falls[server] == falls else { return false }
        state.attempts[index].answer = answer
        return answer != nil
      }
      if isHeard { return true }
    }
    return false
  }

  // MARK: The end

  typealias End = (logs: [[LogEntry]], end: [String: String], open: Set<String>)

  /// Reads the audit log and the final state.
  func look() async throws -> End {
    let storage = servers[0]
    var logs: [Int64: [LogEntry]] = [:]
    for entry in try await storage.auditEntries(after: LogCursor(), limit: 100_000) {
      let chain = entry.chain
      guard let entry = try LogEntry(entry) else { continue }
      logs[chain, default: []].append(entry)
    }
    var end: [String: String] = [:]
    for client in try await storage.clients() {
      end["\(client.id)"] = client.revoked == nil ? "good" : "revoked"
    }
    for key in try await storage.apiKeys() { end["\(key.id)"] = key.revoked == nil ? "good" : "revoked" }
    for token in try await storage.tokens(after: "", user: nil, limit: 1000) {
      end["\(token.id)"] = "\(token.state) \(token.user?.text ?? "-") \(token.words)"
    }
    for number in 0..<History.userCount {
      let user = History.user(number)
      end[user] = try await storage.user("\(user)").map { "\($0.state)" }
      for container in try await storage.containers(user: "\(user)") {
        let credential = try await storage.credential(ID(of: container.id))
        end["\(container.id)"] =
          "\(container.state)\(container.compliance == .locked ? " locked" : "") \(credential?.words ?? "-")"
        for order in try await storage.deviceCommands(of: container.id) {
          end["\(order.id)"] = "\(container.id) \(order.action)\(order.isOpen ? "" : " received")"
        }
      }
      for device in try await storage.devices(user: "\(user)") {
        let number = try Hex.decode(device.installation)[0]
        end["\(user)/\(number)"] = "\(device.compliance)\(device.isOrderedLocked ? " itself" : "")"
      }
      for key in try await storage.uafCredentials(user: "\(user)") {
        end[Sample.name(ofKey: key.keyID)] = "\(key.state) \(key.signCounter)"
      }
      for target in try await storage.uafTargets(user: "\(user)") {
        let number = try target.device.map { "\(try Hex.decode($0)[0])" }
        end["\(target.id)"] = "\(user)/\(number ?? "-")"
      }
      for app in try await storage.pushAuthMechanisms(user: "\(user)") { end["\(app.id)"] = "\(app.state)" }
    }
    for request in try await storage.transactions(TransactionFilter(), before: nil, at: 0, limit: 1000) {
      end["\(request.id)"] = request.words
    }
    return (logs.sorted { $0.key < $1.key }.map(\.value), end, try await lookForOpen())
  }

  /// Reads the objects that can still be answered.
  private func lookForOpen() async throws -> Set<String> {
    let (storage, time) = (servers[0], outside.now)
    var open: Set<String> = []
    for user in (0..<History.userCount).map(History.user) {
      if let invite = try await storage.openActivation(user: "\(user)") { open.insert("\(invite.id)") }
      for app in try await storage.pushAuthMechanisms(user: "\(user)") {
        let messages = try await storage.pushAuthMessages(of: app.id, after: time)
        open.formUnion(messages.filter { $0.state == .pending }.map(\.id.text))
      }
    }
    for id in history.operations {
      guard let found = try await storage.uafOperation("\(id)"), found.isOpen, !found.hasExpired(at: time)
      else {
        continue
      }
      open.insert(id)
    }
    return open
  }
}
