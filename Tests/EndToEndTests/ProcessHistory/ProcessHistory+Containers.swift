import AccountModel
import Signet
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetTesting
import SignetTestKit
import Synchronization

// Containers on devices of the SDK, from the invite to the operators' orders, and their renewals.
extension ProcessHistory {
  /// A container that the history has made, with the data that its device keeps.
  struct Held: Sendable {
    let id: String
    let user: String
    /// The invite for the first container of a line.
    let activation: String
    let number: UInt8
    let container: Container
    /// The device, with a connection to each of the two processes.
    let devices: [Device]
    let line: Line
    var requests: [TransactionRequest] = []

    var name: String { ProcessHistory.name(id) }
  }

  /// A line of containers, each of which renews the one before.
  final class Line: Sendable {
    private let facts = Mutex<(orders: [String], isTaken: Bool)>(([], false))

    /// The orders for which its device may send a receipt.
    var orders: [String] { facts.withLock { $0.orders } }

    func add(_ order: String) { facts.withLock { $0.orders.append(order) } }

    /// Reserves the container for one renewal or deletion; returns whether it was free.
    func take() -> Bool {
      facts.withLock { facts in
        defer { facts.isTaken = true }
        return !facts.isTaken
      }
    }

    func giveBack() { facts.withLock { $0.isTaken = false } }
  }

  /// An activation whose outcome the device does not know.
  struct Uncertain: Sendable {
    let activation: String
    let user: String
    let began: Int
  }

  /// A renewal, from its first attempt on.
  struct Renewal: Sendable {
    let began: Int
    let activation: String
    let number: UInt8
  }

  func performWithContainer(_ turn: Turn) async throws {
    let held = state.withLock { turn.one(of: $0.containers) }
    guard let held else { return }
    switch turn.kind {
    case 20..<22:
      try await change(
        .revoke(container: held.name), ["done"], turn.server, .delete, "admin/containers/\(held.id)")
    case 22..<25: try await order(.lock, "lock", of: held, turn)
    case 25..<30: try await order(.unlock, "unlock", of: held, turn)
    case 30..<33:
      try await order(.wipe, "wipe", of: held, turn)
      if turn.isYes { try await report(of: held, turn) }
    case 33..<36: try await report(of: held, turn)
    case 36..<40: try await renew(held, turn)
    case 40..<45: try await code(of: held, turn)
    default: try await decide(with: held, turn)
    }
  }

  /// Runs a device's operation; returns `nil` if the device or the server refuses it.
  private func heard<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value? {
    do { return try await body() } catch is SignetError { return nil }
  }

  // MARK: Activation

  /// Invites a user, and makes a container on a new device.
  func enrol(_ user: String, by name: String, _ random: SplitMix64) async throws {
    var random = random
    let server = random.next(below: 2)
    let begin = tick()
    guard
      let invited = try await operators[server].send(.post, "admin/activations", ["user": .string(user)])
    else {
      // An invite whose answer is lost still replaces the one before.
      note(.invite(activation: "lost-\(name)", user: user), [], .lost, from: begin)
      return
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
    do throws(SignetError) {
      made = try await devices[server].createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
      isOver = true
    } catch { isOver = !error.mayHaveBeenDone }
    // If the answer was lost, the device continues with its stored state.
    while !isOver {
      try await Task.sleep(for: .milliseconds(20))
      do throws(SignetError) {
        made = try await devices[random.next(below: 2)].finishActivations().first
        isOver = true
      } catch { isOver = !error.mayHaveBeenDone }
    }
    guard let made else {
      let uncertain = Uncertain(activation: "a\(name)", user: user, began: start)
      return state.withLock { $0.uncertain.append(uncertain) }
    }
    let end = tick()
    state.withLock { state in
      let held = Held(
        id: made.serverContainerID.text, user: user, activation: "a\(name)", number: state.newDevice(),
        container: made, devices: devices, line: Line())
      state.text.append("\(start)-\(end) a container, \(held.id), of \(user), of the invite a\(name)")
      let finish = Step.finish(
        activation: held.activation, container: held.name, user: user, device: held.number)
      let place = state.acknowledge("finish", from: start, to: end) { $0.take(finish, at: 0) == "staged" }
      state.acknowledge("confirm", from: start, to: end, after: place) { Self.confirms(held.name, &$0) }
      state.containers.append(held)
      state.made.insert(held.id)
    }
  }

  static func confirms(_ container: String, _ model: inout Model) -> Bool {
    ["activated", "already active"].contains(model.take(.confirm(container: container), at: 0))
  }

  // MARK: Renewal

  /// Renews a container, with retries until there is an answer.
  private func renew(_ held: Held, _ turn: Turn) async throws {
    guard held.line.take() else { return }
    defer { held.line.giveBack() }
    // The server may have its keys from an earlier attempt.
    let began = state.withLock { state in
      let began = state.renewals[held.id]?.began ?? state.tick()
      state.renewals[held.id] = Renewal(began: began, activation: held.activation, number: held.number)
      return began
    }
    var random = turn.random
    var made: Container?
    var isOver = false
    while !isOver {
      do throws(SignetError) {
        made = try await held.devices[random.next(below: 2)].renew(
          held.container, handler: ScriptedActivation(reply: .abort))
        isOver = true
      } catch {
        isOver = !error.mayHaveBeenDone
        // A device whose renewal is rejected asks the server for its orders.
        if isOver { noteHearing(of: held, from: began, "it is not renewed: \(error)") }
      }
      if !isOver { try await Task.sleep(for: .milliseconds(20)) }
    }
    guard let made else { return }
    let end = tick()
    state.withLock { state in
      let renewed = Held(
        id: made.serverContainerID.text, user: held.user, activation: held.activation, number: held.number,
        container: made, devices: held.devices, line: held.line)
      state.text.append("\(began)-\(end) a container, \(renewed.id), renews \(held.id)")
      let place = state.acknowledge("renew", from: began, to: end) {
        $0.take(Self.stage(renewed.id, renewing: held.id, held.user, held.activation, held.number), at: 0)
          == "staged"
      }
      state.acknowledge("confirm", from: began, to: end, after: place) { Self.confirms(renewed.name, &$0) }
      state.containers.removeAll { $0.id == held.id }
      state.containers.append(renewed)
      state.made.insert(renewed.id)
    }
  }

  static func stage(
    _ id: String, renewing renewed: String, _ user: String, _ activation: String, _ device: UInt8
  ) -> Step {
    .stage(
      container: name(id), renewing: name(renewed), activation: activation, user: user, device: device)
  }

  // MARK: Orders

  private func order(
    _ kind: Step.OrderKind, _ word: String, of held: Held, _ turn: Turn
  ) async throws {
    let step = { (repetition: Int) in
      let name = "o\(turn.name)-\(repetition)"
      held.line.add(name)
      return Step.order(name, container: held.name, kind)
    }
    try await attempt(["added"], turn.server, step: step) {
      try await self.operators[$0].call(.post, "admin/containers/\(held.id)/\(word)", [:])
    }
  }

  /// Makes a device ask for its orders; on an order to delete its container, repeats until the server knows of the deletion.
  private func report(of held: Held, _ turn: Turn) async throws {
    guard held.line.take() else { return }
    defer { held.line.giveBack() }
    let begin = tick()
    let device = held.devices[turn.server]
    let receive = Self.receipts(of: held)
    do throws(SignetError) {
      guard try await device.reportCondition(of: held.container) == .wiped else { return }
    } catch .noSuchContainer {
      return  // deleted before
    } catch {
      noteHearing(of: held, from: begin, "\(error)")
      return
    }
    state.withLock { $0.containers.removeAll { $0.id == held.id } }
    for attempt in 0..<200 {
      // Queued notices can go to either process.
      _ = try await heard { try await held.devices[attempt % 2].sendQueuedNotices(evenIfEarly: true) }
      let seen = try await operators[attempt % 2].look("admin/containers/\(held.id)")
      guard try seen?.string("state") ?? "revoked" == "revoked" else { continue }
      let end = tick()
      return state.withLock { state in
        state.text.append("\(begin)-\(end) the device of \(held.id) has deleted it")
        state.acknowledge("wipe", from: begin, to: end) { model in
          receive(&model)
          return model.description[held.name]?.hasPrefix("revoked") ?? true
        }
      }
    }
    state.withLock {
      $0.violations.append("\(held.id) is deleted on its device, and the server does not hear it")
    }
  }

  /// The receipts of a container for all of its orders.
  private static func receipts(of held: Held) -> @Sendable (inout Model) -> Void {
    { model in
      for order in held.line.orders { _ = model.take(.receipt(order: order, container: held.name), at: 0) }
    }
  }

  /// Records that a device may have received its orders, and that its container may then be deleted, with the server informed.
  private func noteHearing(of held: Held, from begin: Int, _ what: String) {
    guard !held.line.orders.isEmpty else { return }
    let receive = Self.receipts(of: held)
    state.withLock { state in
      state.text.append("\(begin)- the device of \(held.id) has heard: \(what)")
      state.deeds.append(
        Deed(from: begin, to: .max, mayBeAbsent: true) {
          receive(&$0)
          return true
        })
    }
  }

  // MARK: Codes and decisions

  private func code(of held: Held, _ turn: Turn) async throws {
    // A device that knows of its lock makes no code.
    let (server, party) = (turn.server, turn.party)
    guard let made = try await heard({ try await held.devices[server].oneTimePassword(for: held.container) })
    else { return }
    let body: JSONObject = ["user": .string(held.user), "code": .string(made.code)]
    let step = Step.code(
      of: held.name, user: held.user, counter: Int64(made.counter), from: "", by: "party\(party)")
    try await attempt(step, ["accepted"], server) { server in
      guard let answer = try await self.parties[party][server].send(.post, "otp/validate", body) else {
        return .lost
      }
      guard answer.status == 200 else { return .refused }
      return try JSONObject(parsing: answer.body).bool("valid") ? .accepted : .refused
    }
  }

  /// Decides the request that the device has seen last, or an earlier one, which the server rejects if it has ended since.
  private func decide(with held: Held, _ turn: Turn) async throws {
    let server = turn.server
    if turn.second % 4 > 0,
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
      return named.isEmpty ? nil : named[Int(turn.second / 4 % UInt64(named.count))]
    }
    guard let request else { return }
    try await decide(request, accepts: turn.isYes, with: held, server)
  }

  func decide(
    _ request: TransactionRequest, accepts: Bool, with held: Held, _ server: Int
  ) async throws {
    let step = Step.decide(
      container: held.name, user: held.user, device: held.number, request: Self.name(request.id.text),
      accepts: accepts, isNumberRight: true)
    try await attempt(step, ["decided", "repeated"], server) { server in
      do throws(SignetError) {
        try await held.devices[server].decide(request, accepts ? .accepted : .denied, with: held.container)
        return .accepted
      } catch { return error.mayHaveBeenDone ? .lost : .refused }
    }
  }
}
