import AccountModel
import SignetJSON
import SignetUAF
import Synchronization
import Testing
import UAFFixture

// The end of a history, and its comparison with the model.
extension ProcessHistory {
  /// The state of the servers, in the words of the model.
  private struct End {
    /// The state by name; a missing name is one that does not exist any more.
    var words: [String: String] = [:]
    var violations: [String] = []
  }

  /// The kind of an object; its API shows less of its state than the model has.
  private enum Kind {
    case user, container, request, key, app

    /// Converts the model's description to the part that the servers' answers show.
    func words(of text: String) -> String {
      let words = text.split(separator: " ").map(String.init)
      switch self {
      case .user, .key, .app: return text
      case .container: return words.prefix(2) == ["active", "locked"] ? "active locked" : words[0]
      case .request: return "\(words[0]) \(words[2])"
      }
    }
  }

  /// Compares the observations and the final state with the model.
  func judged() async throws -> Found {
    var end = End(violations: state.withLock { $0.violations })
    for index in 0..<Self.userCount { try await look(at: user(index), &end) }
    for id in state.withLock({ $0.requests }) { try await look(atRequest: id, &end) }
    let (deeds, kinds) = (state.withLock { $0.deeds }, kinds)
    let found = Ordering(of: deeds, from: Model()) { [end] model in
      let told = model.description
      return kinds.allSatisfy { name, kind in told[name].map(kind.words) == end.words[name] }
    }
    if !found.isWhole {
      end.violations.append(
        "in no order do the rules allow all of this; \(found.order.count) of \(deeds.count) fit")
    }
    return state.withLock { state in
      Found(
        acknowledged: state.acknowledged, lost: state.lost, kills: state.kills, violations: end.violations,
        text: (state.text + kinds.keys.sorted().map { "at the end \($0) is \(end.words[$0] ?? "gone")" })
          .joined(separator: "\n"))
    }
  }

  /// All objects that the history knows of: every acknowledged one must exist.
  private var kinds: [String: Kind] {
    var kinds: [String: Kind] = [:]
    for index in 0..<Self.userCount { kinds[user(index)] = .user }
    state.withLock { state in
      for id in state.made { kinds[Self.name(id)] = .container }
      for id in state.requests { kinds[Self.name(id)] = .request }
      for key in state.keys { kinds[key.name] = .key }
      for app in state.apps { kinds[app.name] = .app }
    }
    return kinds
  }

  private func look(at user: String, _ end: inout End) async throws {
    guard let shown = try await operators[0].look("admin/users/\(user)") else { return }
    end.words[user] = try shown.string("state")
    let containers = try await operators[0].look("admin/users/\(user)/containers")
    for case .object(let container) in try containers?.array("containers") ?? [] {
      try look(at: container, of: user, &end)
    }
    let keys = try await operators[0].look("admin/uaf/credentials?user=\(user)")
    let ours = state.withLock { $0.keys }
    for case .object(let key) in try keys?.array("credentials") ?? [] {
      let id = try key.string("keyId")
      guard let held = ours.first(where: { $0.key.keyID.text == id }) else {
        end.violations.append("nobody registered the key \(id) of \(user)")
        continue
      }
      end.words[held.name] = "\(try key.string("state")) \(try key.integer("signCounter"))"
    }
    let apps = try await operators[0].look("admin/pushauth/mechanisms?user=\(user)")
    let known = Set(state.withLock { $0.apps }.map(\.id))
    for case .object(let app) in try apps?.array("authenticators") ?? [] {
      let (id, word) = (try app.string("id"), try app.string("state"))
      if known.contains(id) {
        end.words[Self.name(id)] = word == "pending" ? "open" : word
      } else if word != "pending" {
        end.violations.append("nobody enrolled the app \(id) of \(user)")
      }
    }
  }

  private func look(at container: JSONObject, of user: String, _ end: inout End) throws {
    let (id, word) = (try container.string("id"), try container.string("state"))
    // A container that was never confirmed can do nothing.
    guard word != "pending" else { return }
    if !state.withLock({ $0.made.contains(id) }),
      try !noteUnheard(id, of: user, renewing: container.optionalString("renews"))
    {
      end.violations.append("nobody made the container \(id) of \(user)")
    }
    let isLocked = try word == "active" && container.string("standing") == "locked"
    end.words[Self.name(id)] = isLocked ? "active locked" : word
  }

  private func look(atRequest id: String, _ end: inout End) async throws {
    guard let shown = try await parties[0][1].look("transactions/\(id)") else { return }
    var proof = "-"
    if shown.contains("decision") { proof = Self.name(try shown.object("decision").string("container")) }
    if shown.contains("uaf") { proof = Self.name(try shown.object("uaf").string("session")) }
    if shown.contains("app") { proof = Self.name(try shown.object("app").string("mechanism")) }
    end.words[Self.name(id)] = "\(try shown.string("status")) \(proof)"
  }

  /// Records an existing container of whose creation no device has heard.
  ///
  /// - Returns: Whether a lost activation or renewal can have made it; the user's invite for it is unknown.
  private func noteUnheard(_ id: String, of user: String, renewing renewed: String?) throws -> Bool {
    let name = Self.name(id)
    return state.withLock { state in
      if let renewed {
        guard let renewal = state.renewals[renewed] else { return false }
        state.text.append("\(renewal.began)- a container, \(id), renews \(renewed), and no device has heard")
        let stage = Self.stage(id, renewing: renewed, user, renewal.activation, renewal.number)
        state.deeds.append(Deed(from: renewal.began, to: .max) { $0.take(stage, at: 0) == "staged" })
        state.deeds.append(
          Deed(from: renewal.began, to: .max, after: state.deeds.count - 1) { Self.confirms(name, &$0) })
        return state.made.insert(id).inserted
      }
      let candidates = state.uncertain.filter { $0.user == user }
      guard let began = candidates.map(\.began).min() else { return false }
      let device = state.newDevice()
      state.text.append("\(began)- a container, \(id), of \(user), of which no device has heard")
      state.deeds.append(
        Deed(from: began, to: .max) { model in
          for candidate in candidates {
            var next = model
            let finish = Step.finish(
              activation: candidate.activation, container: name, user: user, device: device)
            guard next.take(finish, at: 0) == "staged", Self.confirms(name, &next) else { continue }
            model = next
            return true
          }
          return false
        })
      return state.made.insert(id).inserted
    }
  }
}
