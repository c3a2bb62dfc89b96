import AccountModel
import SignetConcurrency
import SignetCrypto
import SignetJSON
import SignetSQL
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Synchronization

/// A history as it was run: what each client heard, the audit log, and what the database held at the end.
struct Run: Sendable {
  let attempts: [Attempt]
  /// The texts of the audit log's events: of each chain in the order in which they became durable.
  let logs: [[String]]
  /// What the database says of each thing, as ``Model/description`` says it.
  let end: [String: String]

  /// Runs a history on two servers over one database in memory.
  ///
  /// - Throws: ``StorageFailure`` where the database cannot be opened.
  init(_ history: History) throws {
    let database = try SimulatedDatabase.take()
    let scheduler = SeededScheduler(seed: history.schedule &* 31 &+ 7)
    try database.begin(with: scheduler)
    // Of one server's key: a step that changes a row and not its code is found.
    let server = database.storage.authenticatingRows(with: Self.rowKey)
    let world = World(history, [Storage](repeating: server, count: History.serverCount))
    let result = Mutex<Result<([[String]], [String: String]), any Error>?>(nil)
    Task(executorPreference: scheduler) {
      await world.run()
      do {
        let found = try await world.look()
        result.withLock { $0 = .success(found) }
      } catch { result.withLock { $0 = .failure(error) } }
    }
    scheduler.run()
    guard let found = result.withLock(\.self) else { throw Stuck() }
    (logs, end) = try found.get()
    attempts = world.attempts
    database.giveBack()
  }

  /// Runs a history on servers with connections of their own to one database, which is empty; what comes first is nobody's choice.
  ///
  /// - Throws: ``StorageFailure``.
  init(_ history: History, on servers: [Storage]) async throws {
    let world = World(history, servers.map { $0.authenticatingRows(with: Self.rowKey) })
    await world.run()
    (logs, end) = try await world.look()
    attempts = world.attempts
  }

  private static let rowKey = HMACKey(SecretBytes(copying: [UInt8](repeating: 7, count: 32)), .sha256)

  /// Nothing can go on, and the history is not at its end.
  struct Stuck: Error {}
}

/// Two servers, their database and their clock while a history runs.
private final class World: Sendable {
  private struct State {
    var time: Int64 = 10_000
    var moment = 0
    var attempts: [Attempt] = []
    /// How often a server went down.
    var falls = [Int](repeating: 0, count: History.serverCount)
    /// The places of actions that have not ended, in order.
    var open: [Int]
    /// Clients that wait until the action at a place may begin.
    var waiting: [(place: Int, turn: CheckedContinuation<Void, Never>)] = []

    /// What is far apart in a history is one after the other, also where what lay between was left out.
    func mayBegin(_ place: Int) -> Bool { open.first.map { $0 >= place - History.window } ?? true }
  }

  /// The step was not begun, or its answer was lost.
  private struct Lost: Error {}

  private let history: History
  private let servers: [Storage]
  private let state: Mutex<State>

  init(_ history: History, _ servers: [Storage]) {
    (self.history, self.servers) = (history, servers)
    state = Mutex(State(open: history.kept))
  }

  var attempts: [Attempt] { state.withLock(\.attempts) }

  private var now: Int64 { state.withLock(\.time) }

  /// A server's storage for an attempt: one of thirty is not begun, and one of thirty loses its answer.
  private func storage(of server: Int, for attempt: String) -> Storage {
    var random = SplitMix64(
      seed: attempt.utf8.reduce(history.schedule) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    let fate = random.next() % 30
    return servers[server].judging(by: Self.rules).suffering(
      StepFaults {
        if fate == 0 { throw Lost() }
      } didEnd: {
        if fate == 1 { throw Lost() }
      })
  }

  /// What ends because nobody is there to answer it is written down beside the step that it ends with.
  private static let rules: AnswerRules = {
    var rules = AnswerRules()
    rules.ended = { request, cause in
      guard case .userAdded(let entry) = cause.event else { preconditionFailure("no event of a history") }
      return .sample("\(entry.prefix { $0 != " " }) ended \(request)")
    }
    return rules
  }()

  // MARK: Clients

  /// Has all clients do what is theirs.
  func run() async {
    await withTaskGroup { group in
      for client in 0..<History.clientCount { group.addTask { await self.run(client) } }
    }
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
    case .pass(let seconds): return state.withLock { $0.time += seconds }
    case .crash: return state.withLock { $0.falls[server] += 1 }
    default: break
    }
    for (number, step) in history.steps(of: place, at: now).enumerated() {
      guard await take(step, named: "\(place).\(number)", server: server) else { return }
    }
  }

  /// Takes a step, again where its answer was lost.
  ///
  /// - Returns: Whether the next step of the same action makes sense.
  private func take(_ step: Step, named name: String, server: Int) async -> Bool {
    for count in 0..<3 {
      let (index, time, falls) = state.withLock { state in
        state.moment += 1
        state.attempts.append(
          Attempt(name: "\(name).\(count)", step: step, time: state.time, began: state.moment))
        return (state.attempts.count - 1, state.time, state.falls[server])
      }
      let answer = await storage(of: server, for: "\(name).\(count)").take(
        step, named: "\(name).\(count)", at: time)
      let isHeard = state.withLock { state in
        state.moment += 1
        state.attempts[index].ended = state.moment
        guard state.falls[server] == falls else { return false }
        state.attempts[index].answer = answer
        return answer != nil
      }
      if isHeard { return true }
    }
    return false
  }

  // MARK: The end

  /// The audit log, and what there is.
  func look() async throws -> ([[String]], [String: String]) {
    let storage = servers[0]
    var logs: [Int64: [String]] = [:]
    for entry in try await storage.auditEntries(after: LogCursor(), limit: 100_000) {
      // What the server writes by itself has no name: that a step found a request to have expired, which the model finds too.
      let name = try JSONObject(parsing: Array(entry.text.utf8)).optionalString("user")
      if let name { logs[entry.chain, default: []].append(name) }
    }
    var end: [String: String] = [:]
    for key in try await storage.apiKeys() { end[key.id] = key.revoked == nil ? "good" : "revoked" }
    for number in 0..<History.userCount {
      let user = History.user(number)
      end[user] = try await storage.user(user).map { "\($0.state)" }
      for container in try await storage.containers(user: user) {
        let credential = try await storage.credential(container.id)
        end[container.id] =
          "\(container.state)\(container.standing == .locked ? " locked" : "") \(credential?.lastCounter ?? -2)"
      }
      for key in try await storage.uafCredentials(user: user) {
        end[String(decoding: key.keyID, as: UTF8.self)] = "\(key.state) \(key.signCounter)"
      }
      for app in try await storage.pushAuthMechanisms(user: user) { end[app.id] = "\(app.state)" }
    }
    for request in try await storage.transactions(TransactionFilter(), before: nil, at: 0, limit: 1000) {
      end[request.id] = "\(request.state) \(request.user ?? "-") \(request.decision?.container ?? "-")"
    }
    return (logs.sorted { $0.key < $1.key }.map(\.value), end)
  }
}

extension Storage {
  /// Takes a step.
  ///
  /// - Returns: What the client hears; `nil` where that was lost.
  fileprivate func take(_ step: Step, named name: String, at time: Int64) async -> String? {
    do { return try await outcome(of: step, named: name, at: time) } catch {
      switch error as? StorageFailure {
      case .userNotActive(let state): return "not active: \(state)"
      case .unknown: return "unknown"
      case .deviceLocked: return "device locked"
      case .exists: return "exists"
      // What the faults throw.
      case .failed(detail: "Lost"): return nil
      default: return "failed: \(error)"
      }
    }
  }

  private func outcome(of step: Step, named name: String, at time: Int64) async throws -> String {
    let event: @Sendable (String) -> AuditRecord = { .sample("\(name) \($0)") }
    let done = event("done")
    let ended: @Sendable (String) -> AuditRecord = { event("ended \($0)") }
    switch step {
    case .addUser(let user):
      try await addUser(UserRecord(id: user, subject: "~\(name)", created: time), audit: done)
      return "done"
    case .suspend(let user):
      let outcome = try await suspendUser(
        user, reason: "", subject: "~new \(name)", at: time, audit: event("changed"), ended: ended)
      return "\(outcome)"
    case .resume(let user): return "\(try await resumeUser(user, at: time, audit: event("changed")))"
    case .delete(let user):
      let outcome = try await deleteUser(
        user, subject: "~new \(name)", at: time, audit: event("changed"), ended: ended)
      return "\(outcome)"
    case .addParty(let party):
      let key = APIKeyRecord(
        id: party, name: party, scopes: [Sample.scope], secretDigest: [1] + party.utf8, created: time)
      try await addAPIKey(key, audit: done)
      return "done"
    case .revokeParty(let party):
      return "\(try await revokeAPIKey(party, keepingOneOf: Sample.scope, at: time, audit: event("revoked")))"
    case .removeKey(let key, let user):
      let selection = UAFKeySelection(aaid: Sample.aaid, keyID: Array(key.utf8))
      return try await removeUAFCredentials(of: user, [selection]) { _, _ in done } == 1 ? "done" : "nothing"
    case .removeApp(let app):
      return try await removePushAuthMechanism(app, audit: done) ? "done" : "nothing"
    case .sweep:
      _ = try await sweep(at: time) { event("expired \($0)") }
      return "done"
    case .invite, .finish, .confirm, .stage, .revoke, .order, .receipt, .code:
      return try await outcomeOfContainer(step, event, at: time)
    case .ask, .decide, .withdraw: return try await outcomeOfRequest(step, event, at: time)
    case .begin, .register, .login, .addApp, .registerApp, .message, .answer:
      return try await outcomeOfOthers(step, event, at: time)
    }
  }

  private func outcomeOfContainer(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let done = event("done")
    switch step {
    case .invite(let invite, let user):
      let record = ActivationRecord(
        id: invite, user: user, sealedInviteKey: [1], salt: [2], memoryKiB: 1, passes: 1, lanes: 1,
        profile: [], created: time, expires: time + 1_000_000)
      try await addActivation(record, audit: done)
      return "done"
    case .finish(let invite, let container, let user, let device):
      let new = Sample.container(container, of: user, on: device, from: invite)
      return try await finishActivation(invite, container: new, limit: 5, at: time) { outcome in
        event("\(outcome)")
      }.word
    case .confirm(let container):
      return try await confirmContainer(
        container, at: time, audit: { outcome in event(outcome.word) }, lost: { _ in event("lost") }
      ).word
    case .stage(let container, let renewed, let activation, let user, let device):
      var new = Sample.container(container, of: user, on: device, from: activation)
      new.container.renews = renewed
      return "\(try await stageRenewal(of: renewed, by: new, limit: 1000) { event("\($0)") })"
    case .revoke(let container):
      return try await revokeContainer(container, audit: done) { _ in event("lost") } ? "done" : "nothing"
    case .order(let order, let container, let kind):
      let action: AccountOrderRecord.Action =
        switch kind {
        case .lock: .lock
        case .unlock: .unlock
        case .wipe: .wipe
        }
      let record = AccountOrderRecord(
        id: order, container: container, action: action, reason: "", created: time)
      switch try await addAccountOrder(record, audit: event("added")) {
      case .added: return "added"
      case .notInUse: return "not in use"
      case .toBeWiped: return "to be wiped"
      }
    case .receipt(let order, let container):
      let isKnown = try await receiveAccountOrder(
        order, of: container, receipt: "r", at: time, audit: done, lost: { _ in event("lost") })
      return isKnown ? "done" : "nothing"
    case .code(let container, let user, let counter, let party):
      let outcome = try await attemptCode(CodeAttempt(user: user, key: party)) { situation in
        guard let found = situation.credentials.first(where: { $0.id == container }),
          counter > found.lastCounter
        else { return CodeVerdict(.refused, wait: nil, audit: event("refused")) }
        var credential = found
        credential.lastCounter = counter
        var verdict = CodeVerdict(.accepted, wait: nil, audit: event("accepted"))
        verdict.changed = [credential]
        return verdict
      }.value
      return "\(outcome)"
    default: preconditionFailure("not about a container")
    }
  }

  private func outcomeOfRequest(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let limits = Sample.limits
    switch step {
    case .ask(let request, let user, let expires, let party):
      var record = TransactionRecord(id: request, user: user, content: "{}", created: time, expires: expires)
      record.requester = party
      let asked = record
      var asking = TransactionAsking()
      asking.mayAskUAFKeys = true
      return
        "\(try await addTransaction(asked, key: party, limits: limits, asking: asking) { event("\($0)") })"
    case .decide(let container, let user, let device, let request, let accepts):
      let signer = SignerRecord(Sample.container(container, of: user, on: device, from: "").container)
      let decision = DecisionRecord(
        state: accepts ? .accepted : .denied, jws: "jws", container: container, time: time)
      let attempt = DecisionAttempt(
        transaction: request, by: signer, request: Sample.requestID(event("").event),
        expires: time + 1_000_000)
      return try await decideTransaction(attempt, limits: limits) { _, _ in
        .take(decision, isSigned: true, hasRightNumber: true)
      } audit: {
        event($0.word)
      }.value.word
    case .withdraw(let request, let party):
      let end = EndRecord(state: .withdrawn, reason: "", container: nil, time: time)
      return try await endTransaction(request, end, isSuspicious: false, key: party, limits: limits) {
        event($0.word)
      }.word
    default: preconditionFailure("not about a request")
    }
  }

  private func outcomeOfOthers(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let done = event("done")
    switch step {
    case .begin(let session, let user, let isRegistration, let request, let party):
      var record = UAFSessionRecord(
        id: session, operation: isRegistration ? "Reg" : "Auth", user: user, created: time,
        expires: time + Model.sessionLifetime, state: .requested)
      (record.transaction, record.requester) = (request, party)
      record.target = party.map { _ in "device of \(user)" }
      let begun = record
      let word: @Sendable (AdmissionOutcome) -> String = { $0 == .added ? "done" : "\($0)" }
      return word(try await addUAFSession(begun, limits: Sample.limits) { event(word($0)) })
    case .register(let session, let key, let publicKey, let user, let device):
      var credential = UAFCredentialRecord(
        aaid: Sample.aaid, keyID: Array(key.utf8), user: user, publicKey: Sample.signingKey(publicKey),
        algorithm: 1,
        keyFormat: 0x100, signCounter: 0, registrationCounter: 0, authenticatorVersion: 1, created: time)
      credential.device = device.map { Hex.encode([UInt8](repeating: $0, count: 16)) }
      let end = UAFSessionEnd(status: 1200, time: time)
      return try await finishUAFRegistration(session, end, adding: [credential.new], limit: 1000) {
        event($0.word)
      }.word
    case .login(let session, let user, let key, let counter):
      let use = UAFKeyUse(aaid: Sample.aaid, keyID: Array(key.utf8), signCounter: counter)
      let end = UAFSessionEnd(status: 1200, time: time)
      return try await finishUAFAuthentication(
        session, of: user, end, uses: [use]
      ) { event($0.word) }.word
    case .addApp(let app, let user):
      let record = PushAuthMechanismRecord(
        id: app, user: user, sealedSecret: [1], challenge: [2], created: time, expires: time + 1_000_000)
      try await addPushAuthMechanism(record, with: nil, audit: done)
      return "done"
    case .registerApp(let app):
      return try await registerPushAuthMechanism(
        app, named: "app of \(app)", sealedDevice: [3], at: time, audit: done) ? "done" : "refused"
    case .message(let message, let app, let expires, let party):
      var record = PushAuthMessageRecord(
        id: message, mechanism: app, kind: "default", challenge: [4], created: time, expires: expires)
      record.requester = party
      let sent = record
      return "\(try await addPushAuthMessage(sent, limits: Sample.limits) { event("\($0)") })"
    case .answer(let message, let approves):
      return try await answerPushAuthMessage(
        message, approves ? .approved : .denied, at: time, audit: done
      ) { _ in true } == .taken ? "done" : "refused"
    default: preconditionFailure("not about a key or an app")
    }
  }
}

/// Records of the simulation.
private enum Sample {
  static let aaid = "7357#0001"
  static let scope = "rp"
  static let limits = TransactionLimits(
    pending: History.budget.pending, challenges: History.budget.challenges, wait: History.budget.wait,
    longestWait: History.budget.longestWait)

  static func container(
    _ id: String, of user: String, on device: UInt8, from activation: String
  ) -> NewContainer {
    let container = ContainerRecord(
      id: id, user: user, activation: activation, device: [UInt8](repeating: device, count: 16), name: "",
      platform: "", keystore: "", sessionKey: [1] + id.utf8, encryptionKey: [2] + id.utf8,
      signingKey: signingKey(id), profile: Array("{}".utf8), created: 0)
    return NewContainer(
      container,
      CredentialRecord(
        id: id, user: user, kind: .hotp, algorithm: "SHA256", digits: 6, period: 0, sealedSecret: [1],
        created: 0))
  }

  /// The key of a container, or of a UAF key, that signs.
  static func signingKey(_ name: String) -> [UInt8] { [3] + name.utf8 }

  /// 16 bytes that each attempt has for itself.
  static func requestID(_ event: AuditEvent) -> [UInt8] {
    Array(HashFunction.sha256.digest(of: Array("\(event)".utf8)).prefix(16))
  }
}

extension ActivationOutcome {
  fileprivate var word: String { "\(self)" }
}

extension ConfirmationOutcome {
  fileprivate var word: String { self == .alreadyActive ? "already active" : "\(self)" }
}

extension DecisionOutcome {
  fileprivate var word: String {
    switch self {
    case .decidedBefore: "decided before"
    case .signerChanged: "signer changed"
    case .containerLocked: "container locked"
    default: "\(self)"
    }
  }
}

extension UAFOutcome {
  fileprivate var word: String {
    switch self {
    case .keyExists: "key exists"
    case .keyUnknown: "key unknown"
    case .copied: "copied"
    case .transactionOver: "transaction over"
    case .tooMany: "too many"
    case .altered: "altered"
    case .requirementNotMet: "requirement not met"
    case .taken, .over: "\(self)"
    }
  }
}
