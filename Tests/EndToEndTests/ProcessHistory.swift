import AccountModel
import Foundation
import Signet
import SignetJSON
import SignetTestKit
import SignetTesting
import SignetTransport
import SignetWire
import Synchronization
import Testing

/// A random history of three clients of two processes, and of one who kills.
final class ProcessHistory: Sendable {
  static let userCount = 3
  static let clientCount = 3
  static let actionCount = 14
  static let killCount = 2

  /// How an attempt was answered.
  fileprivate enum Answer: Sendable { case accepted, refused, lost }

  /// A container that the history has made, with what its device has kept.
  private struct Held: Sendable {
    let id: String
    let user: String
    let container: Container
    /// The device as it speaks to each of the two processes.
    let devices: [Device]
    var requests: [TransactionRequest] = []
  }

  /// An activation of which the device has not heard how it ended.
  private struct Uncertain: Sendable {
    let activation: String
    let user: String
    let began: Int
  }

  private struct State {
    var moment = 0
    var deeds: [Deed] = []
    var text: [String] = []
    var lost = 0
    var containers: [Held] = []
    var requests: [String] = []
    /// Activations that may have been finished without an answer.
    var uncertain: [Uncertain] = []
    var deviceCount: UInt8 = 0
    var kills = 0
    var ended = 0

    /// A number for a device that has no other container.
    mutating func newDevice() -> UInt8 {
      deviceCount += 1
      return deviceCount
    }
  }

  /// What became of it.
  struct Found: Sendable {
    let deeds: Int
    let lost: Int
    let kills: Int
    let violations: [String]
    /// All attempts, for whoever has to find out what was wrong.
    let text: String
  }

  private let pair: ProcessPair
  private let number: Int
  private let seed: UInt64
  private let operators: [HistoryCaller]
  private let parties: [[HistoryCaller]]
  private let state = Mutex(State())

  init(_ pair: ProcessPair, number: Int, seed: UInt64) throws {
    (self.pair, self.number, self.seed) = (pair, number, seed)
    let operatorKey = "\(pair.first.data)/admin.key"
    operators = try [0, 1].map { try HistoryCaller(pair, $0, operatorKey) }
    parties = try pair.keys.map { key in try [0, 1].map { try HistoryCaller(pair, $0, key) } }
  }

  private func user(_ index: Int) -> String { "h\(number)-\(index)" }

  /// Runs it.
  func run() async throws -> Found {
    for (index, _) in pair.keys.enumerated() {
      note(.addParty("party\(index)"), ["done"], .accepted, from: tick())
    }
    for index in 0..<Self.userCount {
      _ = try await attempt(.addUser(user(index)), ["done"], 0) {
        try await self.operators[$0].call(.post, "admin/users", ["user": .string(self.user(index))])
      }
    }
    for index in 0..<2 { try await enrol(user(index), by: "setup-\(index)", SplitMix64(seed: seed)) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for client in 0..<Self.clientCount { group.addTask { try await self.run(client) } }
      group.addTask { try await self.killSome() }
      try await group.waitForAll()
    }
    return try await judged()
  }

  /// The moments are random on purpose: nothing waits for them.
  private func killSome() async throws {
    var random = SplitMix64(seed: seed &* 31)
    for _ in 0..<Self.killCount {
      try await Task.sleep(for: .milliseconds(Int(random.next() % 150)))
      guard state.withLock({ $0.ended < Self.clientCount }) else { return }
      try await pair.kill(Int(random.next() % 2))
      state.withLock { $0.kills += 1 }
    }
  }

  // MARK: Clients

  private func run(_ client: Int) async throws {
    var random = SplitMix64(seed: seed &* 1009 &+ UInt64(client))
    for place in 0..<Self.actionCount { try await perform("\(client).\(place)", &random) }
    state.withLock { $0.ended += 1 }
  }

  private func perform(_ name: String, _ random: inout SplitMix64) async throws {
    let who = user(Int(random.next() % UInt64(Self.userCount)))
    let server = Int(random.next() % 2)
    let party = Int(random.next() % 2)
    let (first, second) = (random.next(), random.next())
    let isYes = random.next() % 3 > 0
    let held = state.withLock { state in
      state.containers.isEmpty ? nil : state.containers[Int(first % UInt64(state.containers.count))]
    }
    let request = state.withLock { state in
      state.requests.isEmpty ? nil : state.requests[Int(second % UInt64(state.requests.count))]
    }
    switch random.next() % 100 {
    case 0..<8:
      try await change(
        .suspend(who), ["changed", "unchanged"], server, .post, "admin/users/\(who)/suspend", [:])
    case 8..<20:
      try await change(.resume(who), ["changed", "unchanged"], server, .post, "admin/users/\(who)/resume")
    case 20..<22:
      try await change(.delete(who), ["changed", "unchanged"], server, .delete, "admin/users/\(who)")
    case 22..<28: try await enrol(who, by: name, random)
    case 28..<32:
      guard let held else { return }
      try await change(.revoke(container: held.id), ["done"], server, .delete, "admin/containers/\(held.id)")
    case 32..<38:
      guard let held else { return }
      try await change(
        .order("o\(name)", container: held.id, .lock), ["added"], server, .post,
        "admin/containers/\(held.id)/lock", [:])
    case 38..<46:
      guard let held else { return }
      try await change(
        .order("o\(name)", container: held.id, .unlock), ["added"], server, .post,
        "admin/containers/\(held.id)/unlock", [:])
    case 46..<58:
      guard let held else { return }
      try await code(of: held, party, server)
    case 58..<72: try await ask(who, party, server)
    case 72..<94:
      guard let held else { return }
      try await decide(with: held, isYes, second, server)
    default:
      guard let request else { return }
      _ = try await attempt(
        .withdraw(request: request, by: "party\(party)"), ["decided", "repeated"], server
      ) {
        try await self.parties[party][$0].call(.delete, "transactions/\(request)")
      }
    }
  }

  private func change(
    _ step: Step, _ right: Set<String>, _ server: Int, _ method: HTTPMethod, _ path: String,
    _ body: JSONObject? = nil
  ) async throws {
    _ = try await attempt(step, right, server) { try await self.operators[$0].call(method, path, body) }
  }

  private func ask(_ user: String, _ party: Int, _ server: Int) async throws {
    let begin = tick()
    // One whose answer is lost has an id that nobody knows: nobody decides it here.
    let body: JSONObject = ["user": .string(user), "text": "Pay 1 EUR"]
    guard let made = try await parties[party][server].send(.post, "transactions", body) else {
      return state.withLock { $0.lost += 1 }
    }
    guard made.status == 201 else { return }
    let id = try JSONObject(parsing: made.body).string("id")
    note(.ask(request: id, user: user, expires: .max, by: "party\(party)"), ["added"], .accepted, from: begin)
    state.withLock { $0.requests.append(id) }
  }

  private func code(of held: Held, _ party: Int, _ server: Int) async throws {
    // A device that knows that it is locked makes none.
    guard let made = try await heard({ try await held.devices[server].oneTimePassword(for: held.container) })
    else { return }
    let body: JSONObject = ["user": .string(held.user), "code": .string(made.code)]
    let step = Step.code(
      of: held.id, user: held.user, counter: Int64(made.counter), from: "", by: "party\(party)")
    _ = try await attempt(step, ["accepted"], server) { server in
      guard let answer = try await self.parties[party][server].send(.post, "otp/validate", body) else {
        return .lost
      }
      guard answer.status == 200 else { return .refused }
      return try JSONObject(parsing: answer.body).bool("valid") ? .accepted : .refused
    }
  }

  /// What a device does; `nil` for what it refuses, or is refused.
  private func heard<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value? {
    do { return try await body() } catch is SignetFailure { return nil }
  }

  /// Decides what the device has seen last, or earlier: what has ended since is refused then.
  private func decide(with held: Held, _ accepts: Bool, _ number: UInt64, _ server: Int) async throws {
    if number % 4 > 0,
      let seen = try await heard({ try await held.devices[server].pendingTransactions(for: held.container) })
    {
      state.withLock { state in
        for index in state.containers.indices where state.containers[index].id == held.id {
          let known = state.containers[index].requests.map(\.id)
          state.containers[index].requests += seen.filter { !known.contains($0.id) }
        }
      }
    }
    let request = state.withLock { state -> TransactionRequest? in
      let known = state.requests
      let requests = state.containers.first { $0.id == held.id }?.requests ?? []
      let named = requests.filter { known.contains($0.id.text) }
      return named.isEmpty ? nil : named[Int(number / 4 % UInt64(named.count))]
    }
    guard let request else { return }
    let step = Step.decide(
      container: held.id, user: held.user, device: 0, request: request.id.text, accepts: accepts,
      isNumberRight: true)
    _ = try await attempt(step, ["decided", "repeated"], server) { server in
      do throws(SignetFailure) {
        try await held.devices[server].decide(request, accepts ? .accepted : .denied, with: held.container)
        return .accepted
      } catch { return error.mayHaveBeenDone ? .lost : .refused }
    }
  }

  /// Invites a user, and makes a container on a new device.
  private func enrol(_ user: String, by name: String, _ random: SplitMix64) async throws {
    var random = random
    let server = Int(random.next() % 2)
    let begin = tick()
    guard
      let invited = try await operators[server].send(.post, "admin/activations", ["user": .string(user)])
    else {
      // An invite that nobody has read ends the one before.
      return note(.invite(activation: "lost-\(name)", user: user), [], .lost, from: begin)
    }
    guard invited.status == 201 else { return }
    note(.invite(activation: "a\(name)", user: user), ["done"], .accepted, from: begin)
    let code = try ActivationCode(parsing: JSONObject(parsing: invited.body).string("code"))
    let folder = pair.first.folder.file("history-\(number)-\(name)")
    let vault = try Vault(directory: folder, keystore: SoftwareKeystore(directory: folder))
    let devices = try [0, 1].map { Device(vault: vault, connection: try pair.connection($0)) }
    let start = tick()
    var made: Container?
    var isOver = false
    do throws(SignetFailure) {
      made = try await devices[server].createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
      isOver = true
    } catch { isOver = !error.mayHaveBeenDone }
    // Where the answer was lost the device goes on with what it has stored.
    while !isOver {
      try await Task.sleep(for: .milliseconds(20))
      do throws(SignetFailure) {
        made = try await devices[Int(random.next() % 2)].finishActivations().first
        isOver = true
      } catch { isOver = !error.mayHaveBeenDone }
    }
    guard let made else {
      let uncertain = Uncertain(activation: "a\(name)", user: user, began: start)
      return state.withLock { $0.uncertain.append(uncertain) }
    }
    let held = Held(id: made.serverMadeID.text, user: user, container: made, devices: devices)
    let end = tick()
    state.withLock { state in
      let device = state.newDevice()
      state.text.append("\(start)-\(end) a container, \(held.id), of \(user), of the invite a\(name)")
      state.deeds.append(
        Deed(from: start, to: end) {
          $0.take(.finish(activation: "a\(name)", container: held.id, user: user, device: device), at: 0)
            == "staged"
        })
      state.deeds.append(
        Deed(from: start, to: end, after: state.deeds.count - 1) { Self.confirms(held.id, &$0) })
      state.containers.append(held)
    }
  }

  private static func confirms(_ container: String, _ model: inout Model) -> Bool {
    ["activated", "already active"].contains(model.take(.confirm(container: container), at: 0))
  }

  // MARK: What is seen

  /// Makes an attempt, and the same again where its answer was lost.
  private func attempt(
    _ step: Step, _ right: Set<String>, _ server: Int, _ call: (_ server: Int) async throws -> Answer
  ) async throws -> Answer {
    var server = server
    for _ in 0..<200 {
      let begin = tick()
      let answer = try await call(server)
      note(step, right, answer, from: begin)
      guard answer == .lost else { return answer }
      // The other process, or this one once it is there again.
      server = 1 - server
      try await Task.sleep(for: .milliseconds(20))
    }
    throw NobodyAnswers()
  }

  private struct NobodyAnswers: Error {}

  private func tick() -> Int {
    state.withLock { state in
      state.moment += 1
      return state.moment
    }
  }

  /// Writes down what was attempted; what was refused has changed nothing.
  private func note(_ step: Step, _ right: Set<String>, _ answer: Answer, from begin: Int) {
    let end = tick()
    state.withLock { state in
      state.text.append("\(begin)-\(end) \(step): \(answer)")
      switch answer {
      case .refused: break
      case .accepted:
        state.deeds.append(
          Deed(from: begin, to: end) { right.contains($0.take(step, at: Self.time(of: step))) })
      case .lost:
        state.lost += 1
        state.deeds.append(
          Deed(from: begin, to: end, mayBeAbsent: true) {
            _ = $0.take(step, at: Self.time(of: step))
            return true
          })
      }
    }
  }

  /// When a step is taken, by the model: a code when it is made, and all else when nothing is over yet.
  private static func time(of step: Step) -> Int64 {
    if case .code(_, _, let counter, _, _) = step { counter * Traits.period } else { 0 }
  }

  // MARK: The end

  /// Holds what was seen, and what there is now, against the model.
  private func judged() async throws -> Found {
    var violations: [String] = []
    var end: [String: String] = [:]
    for index in 0..<Self.userCount {
      let user = user(index)
      guard let answer = try await operators[0].send(.get, "admin/users/\(user)"), answer.status == 200 else {
        continue  // deleted
      }
      end[user] = try JSONObject(parsing: answer.body).string("state")
      for value in try await operators[0].json("admin/users/\(user)/containers").array("containers") {
        guard case .object(let container) = value else { continue }
        let (id, word) = (try container.string("id"), try container.string("state"))
        // One that nobody has confirmed can do nothing.
        guard word != "pending" else { continue }
        if !state.withLock({ $0.containers.contains { $0.id == id } }), !noteUnheard(id, of: user) {
          violations.append("nobody made the container \(id) of \(user)")
        }
        end[id] = try word == "active" && container.string("standing") == "locked" ? "active locked" : word
      }
    }
    let (deeds, requests) = state.withLock { ($0.deeds, Set($0.requests)) }
    for id in requests {
      // Those of a user who was deleted are gone.
      guard let answer = try await parties[0][1].send(.get, "transactions/\(id)"), answer.status == 200 else {
        continue
      }
      let shown = try JSONObject(parsing: answer.body)
      let decider = try shown.contains("decision") ? shown.object("decision").string("container") : "-"
      end[id] = "\(try shown.string("status")) \(decider)"
    }
    let found = Ordering(of: deeds, from: Model()) { [end] model in
      let told = model.description
      return end.allSatisfy { name, state in
        told[name].map { Self.words(of: $0, isRequest: requests.contains(name)) } == state
      }
    }
    if !found.isWhole {
      violations.append(
        "in no order do the rules allow all of this; \(found.order.count) of \(deeds.count) fit")
    }
    return state.withLock { state in
      Found(
        deeds: state.deeds.count - state.lost, lost: state.lost, kills: state.kills, violations: violations,
        text: (state.text + end.map { "at the end \($0) is \($1)" }.sorted()).joined(separator: "\n"))
    }
  }

  /// Writes down a container that there is and of which no device has heard.
  ///
  /// - Returns: Whether it can be; by which of its user's invites, nobody knows.
  private func noteUnheard(_ id: String, of user: String) -> Bool {
    state.withLock { state in
      let candidates = state.uncertain.filter { $0.user == user }
      guard let began = candidates.map(\.began).min() else { return false }
      let device = state.newDevice()
      state.text.append("\(began)- a container, \(id), of \(user), of which no device has heard")
      state.deeds.append(
        Deed(from: began, to: .max) { model in
          for candidate in candidates {
            var next = model
            let finish = Step.finish(
              activation: candidate.activation, container: id, user: user, device: device)
            guard next.take(finish, at: 0) == "staged", Self.confirms(id, &next) else { continue }
            model = next
            return true
          }
          return false
        })
      return true
    }
  }

  /// What the server's answers say, of what the model does.
  private static func words(of model: String, isRequest: Bool) -> String {
    let words = model.split(separator: " ").map(String.init)
    if isRequest { return "\(words[0]) \(words[2])" }
    return words.prefix(2) == ["active", "locked"] ? "active locked" : words[0]
  }
}

/// Somebody with an API key who speaks to one of the processes.
struct HistoryCaller: Sendable {
  private let url: String
  private let key: String
  private let transport: CurlTransport

  init(_ pair: ProcessPair, _ index: Int, _ keyFile: String) throws {
    url = "https://\(pair.first.url)/v1"
    key = String(try String(contentsOfFile: keyFile, encoding: .utf8).prefix { $0 != "\n" })
    transport = try CurlTransport(pair.connection(index))
  }

  /// Sends a request; `nil` where no answer came, or one that says that it may be done later.
  func send(_ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil) async throws -> HTTPResponse? {
    var headers = [("Authorization", "Bearer \(key)")]
    if body != nil { headers.append(("Content-Type", "application/json")) }
    do {
      let response = try await transport.send(
        HTTPRequest(method: method, url: "\(url)/\(path)", headers: headers, body: body?.bytes ?? []))
      return response.status >= 500 ? nil : response
    } catch { return nil }
  }

  fileprivate func call(
    _ method: HTTPMethod, _ path: String, _ body: JSONObject? = nil
  ) async throws -> ProcessHistory.Answer {
    guard let response = try await send(method, path, body) else { return .lost }
    return (200...299).contains(response.status) ? .accepted : .refused
  }

  func json(_ path: String) async throws -> JSONObject {
    let response = try #require(try await send(.get, path))
    try #require(response.status == 200, "\(path): \(response.status)")
    return try JSONObject(parsing: response.body)
  }
}

extension SignetFailure {
  /// Whether no answer came, so that what was wanted may have been done.
  fileprivate var mayHaveBeenDone: Bool {
    switch self {
    case .transport: true
    case .refused(let problem): problem.code == .busy || problem.code == .serverFailure
    case .unexpectedAnswer(let status): status >= 500
    default: false
    }
  }
}
