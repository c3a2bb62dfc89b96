import AccountModel
import Signet
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetSystem
import Synchronization

// Requests of relying parties, and their ends without an answer.
extension ProcessHistory {
  /// A request that expires soon.
  struct Expiring: Sendable {
    let request: String
    let user: String
    /// In seconds since 1970.
    let expires: Int64
    /// A moment before that.
    let from: Int
    /// The index of the deed that made it.
    let place: Int
  }

  /// Creates a request; a third of the requests expire before the history ends.
  func ask(_ turn: Turn) async throws {
    let begin = tick()
    let isShort = turn.first % 3 == 0
    let lifetime: Int64 = isShort ? 1 + Int64(turn.second % 2) : 3_600
    let body: JSONObject = [
      "user": .string(turn.user), "text": "Pay 1 EUR", "lifetime": .integer(lifetime),
    ]
    // The ID of a request whose answer is lost is unknown, so the history never decides it.
    guard let made = try await parties[turn.party][turn.server].send(.post, "transactions", body) else {
      return state.withLock { $0.lost += 1 }
    }
    guard made.status == 201 else { return }
    let answer = try JSONObject(parsing: made.body)
    let (id, expires) = (try answer.string("id"), try answer.integer("expires"))
    let step = Step.ask(
      request: Self.name(id), user: turn.user, expires: isShort ? Self.timeOfExpiry : .max,
      by: "party\(turn.party)")
    let place = note(step, ["added"], .accepted, from: begin)
    state.withLock { state in
      state.requests.append(id)
      state.asked[id] = turn.user
      guard isShort, let place else { return }
      // If the answer came in time, the moment of its arrival is before the expiry.
      let moment = state.tick()
      let from = SystemWallClock().now < expires ? moment : begin
      state.expiring.append(
        Expiring(request: id, user: turn.user, expires: expires, from: from, place: place))
    }
  }

  func withdraw(_ turn: Turn) async throws {
    let request = state.withLock { turn.one(of: $0.requests) }
    guard let request else { return }
    try await withdraw(request, turn.party, turn.server)
  }

  private func withdraw(_ request: String, _ party: Int, _ server: Int) async throws {
    try await attempt(
      .withdraw(request: Self.name(request), by: "party\(party)"), ["decided", "repeated"], server
    ) { try await self.parties[party][$0].call(.delete, "transactions/\(request)") }
  }

  // MARK: Expiry

  /// All other deeds are at 0 by the model's clock; a separate deed expires a request.
  private static let timeOfExpiry: Int64 = 1

  /// Records each expiry as a deed between a moment before it and one after it.
  func watchExpiries() async throws {
    while true {
      // The servers use the same clock.
      let now = SystemWallClock().now
      let isDone = state.withLock { state in
        for expiring in state.expiring where expiring.expires <= now {
          let (end, request) = (state.tick(), expiring.request)
          state.text.append("\(expiring.from)-\(end) the request \(request) is over")
          state.acknowledge("expire", from: expiring.from, to: end, after: expiring.place) {
            // If it was not answered.
            _ = $0.expire(Self.name(request), at: Self.timeOfExpiry)
            return true
          }
          state.over[request] = expiring.user
        }
        state.expiring.removeAll { $0.expires <= now }
        return state.expiring.isEmpty && state.ended == Self.clientCount
      }
      if isDone { return }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Answers expired requests, none of which the server may accept.
  func answerLate() async throws {
    let (containers, over, keys) = state.withLock { ($0.containers, $0.over, $0.keys) }
    for held in containers {
      for request in held.requests where over[request.id.text] != nil {
        try await decide(request, accepts: true, with: held, 0)
      }
    }
    for (request, user) in over {
      if let key = keys.first(where: { $0.user == user }) {
        try await logIn(with: key, confirming: request, 0, 1)
      }
      try await withdraw(request, 0, 1)
    }
  }
}
