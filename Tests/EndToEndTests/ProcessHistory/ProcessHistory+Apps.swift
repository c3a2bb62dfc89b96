import AccountModel
import Signet
import SignetHTTPClient
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetPushAuth
import Synchronization

// Authenticator apps, and the requests that one app answers alone.
extension ProcessHistory {
  struct HeldApp: Sendable {
    let id: String
    let user: String
    let key: PushAuthKey
    let endpoints: PushAuthEndpoints

    var name: String { ProcessHistory.name(id) }
  }

  /// A message to an app.
  struct HeldMessage: Sendable {
    let id: String
    let app: HeldApp
    let message: PushAuthMessage
  }

  func performWithApp(_ turn: Turn) async throws {
    switch turn.kind {
    case 87..<90: try await enrolApp(of: turn.user, turn.server)
    case 90..<94:
      let app = state.withLock { turn.one(of: $0.apps) }
      guard let app else { return }
      try await ask(app, turn)
    case 94..<99:
      let message = state.withLock { turn.one(of: $0.messages) }
      guard let message else { return }
      let request = try PushAuthRequest.answer(
        turn.isYes ? .approve : .deny, to: message.message, at: message.app.endpoints, key: message.app.key)
      try await attempt(
        .answer(message: Self.name(message.id), approves: turn.isYes), ["done"], turn.server
      ) { await self.parties[turn.party][$0].call(request) }
    default:
      let app = state.withLock { turn.one(of: $0.apps) }
      guard let app else { return }
      try await change(
        .removeApp(app.name), ["done"], turn.server, .delete, "admin/pushauth/mechanisms/\(app.id)")
    }
  }

  /// Enrols an app; if the answer with its URI is lost, no app can use it.
  func enrolApp(of user: String, _ server: Int) async throws {
    let begin = tick()
    let body: JSONObject = ["user": .string(user), "issuer": "Shop"]
    guard let made = try await operators[server].send(.post, "admin/pushauth/mechanisms", body) else {
      return state.withLock { $0.lost += 1 }
    }
    guard made.status == 201 else { return }
    let answer = try JSONObject(parsing: made.body)
    let id = try answer.string("id")
    note(.addApp(Self.name(id), user: user), ["done"], .accepted, from: begin)
    guard let push = try AuthenticatorURI(answer.string("uri")).push, let challenge = push.challenge,
      let message = push.messageID
    else { throw IncompleteURI() }
    let app = HeldApp(
      id: id, user: user, key: try push.sharedSecret.withSecret { try PushAuthKey($0) },
      endpoints: try PushAuthEndpoints(
        registration: push.registrationEndpoint, authentication: push.authenticationEndpoint))
    state.withLock { $0.apps.append(app) }
    let request = PushAuthRequest.registration(
      of: id, messageID: message, challenge: challenge, device: try PushAuthDevice(token: id, name: "Phone"),
      at: app.endpoints, cookie: push.loadBalancer, key: app.key)
    try await attempt(.registerApp(app.name), ["done"], server) { await self.operators[$0].call(request) }
  }

  private struct IncompleteURI: Error {}

  private func ask(_ app: HeldApp, _ turn: Turn) async throws {
    let begin = tick()
    let body: JSONObject = [
      "user": .string(app.user), "mechanism": .string(app.id), "text": "Pay 2 EUR", "lifetime": 3_600,
    ]
    // As with containers, the ID of a message whose answer is lost is unknown.
    let made = try await parties[turn.party][turn.server].send(.post, "pushauth/messages", body)
    guard let made else { return state.withLock { $0.lost += 1 } }
    guard made.status == 201 else { return }
    let answer = try JSONObject(parsing: made.body)
    let (id, request) = (try answer.string("id"), try answer.string("transaction"))
    let push = try answer.object("push")
    let delivery = try PushAuthDelivery(messageID: push.string("messageId"), token: push.string("data"))
    let message = HeldMessage(id: id, app: app, message: try delivery.verified(with: app.key))
    note(
      .message(
        Self.name(id), request: Self.name(request), app: app.name, user: app.user, expires: .max,
        by: "party\(turn.party)"), ["added"], .accepted, from: begin)
    state.withLock { state in
      state.requests.append(request)
      state.messages.append(message)
    }
  }
}
