// Requests of OpenID Connect clients by backchannel authentication (CIBA), and their tokens.
extension Model {
  /// Seconds after the end of a request during which its client may still poll for the outcome.
  package static let grace: Int64 = 30

  mutating func takeOfClient(_ step: Step, at time: Int64) -> String {
    switch step {
    case .addClient(let client):
      guard clients[client] == nil else { return "exists" }
      clients[client] = true
      return "done"
    case .revokeClient(let client):
      guard clients[client] != nil else { return "nothing" }
      clients[client] = false
      for (id, request) in requests where isClients(request, client) && request.state == .pending {
        withdraw(id)
      }
      return "done"
    case .backchannel(let request, let user, let expires, let messages, let operations, let client):
      let asked = Request(user: user, party: client, isClients: true, expires: expires)
      guard mayAnswer(request, asked, messages, operations, of: user) else { return "noAuthenticator" }
      if users[user] != nil, let refusal = refusal(of: client, to: user, at: time) { return refusal }
      guard requests[request] == nil else { return "exists" }
      guard users[user] != nil, clients[client] != nil else { return "unknown" }
      requests[request] = asked
      count(client, to: user, at: time)
      for message in messages where apps[message.to]?.isActive == true {
        self.messages[message.name] = Message(app: message.to, request: request, expires: expires)
        effects.insert("sent \(message.name)")
      }
      for operation in operations where isReachable(operation.to, of: user) {
        sessions[operation.name] = Session(
          user: user, isRegistration: false, request: request, party: nil, isCounted: false,
          target: operation.to, tokenExpires: expires, expires: expires)
        effects.insert("sent \(operation.name)")
      }
      return "added"
    case .poll(let request, let client):
      guard let found = requests[request], isClients(found, client) else { return "unknown" }
      guard !found.hasTokens || missing == .tokensOnce else { return "used" }
      switch found.state(at: time) {
      case .pending: return "pending"
      case .expired: return "expired"
      case .accepted, .denied, .withdrawn:
        return isInTime(found, at: time) ? "ended \(text(of: found))" : "expired"
      }
    case .issue(let request, let client):
      guard let found = requests[request], isClients(found, client), isInTime(found, at: time),
        mayHaveTokens(request, found)
      else { return "refused" }
      requests[request]?.hasTokens = true
      return "done"
    default: preconditionFailure("not of a client of OpenID Connect")
    }
  }

  private func isClients(_ request: Request, _ client: String) -> Bool {
    request.isClients && request.party == client
  }

  /// Indicates whether the client can still get tokens for a request that it has not collected yet.
  func mayHaveTokens(_ id: String, _ request: Request) -> Bool {
    (!request.hasTokens || missing == .tokensOnce)
      && (clients[request.party] == true || missing == .goodClientsOnly) && isValidForTokens(id, request)
  }

  /// Indicates whether an active user accepted a request as its client demands, with an authenticator that is still in use.
  func isValidForTokens(_ id: String, _ request: Request) -> Bool {
    guard request.state == .accepted, let user = request.user else { return false }
    return (users[user] == .active || missing == .activeUsersOnly) && isProofInUse(of: request, by: user)
      && meetsOneName(id, request)
  }

  private func isInTime(_ request: Request, at time: Int64) -> Bool { request.expires + Self.grace > time }

  /// Indicates whether the user has an authenticator that could answer the new request.
  private func mayAnswer(
    _ id: String, _ request: Request, _ messages: [Step.Sending], _ operations: [Step.Sending],
    of user: String
  ) -> Bool {
    // A later check rejects an unknown user.
    guard users[user] != nil, missing != .somebodyCanAnswer, !hasOpenContainer(user, for: id, request) else {
      return true
    }
    return messages.contains { apps[$0.to].map { $0.user == user && $0.isActive } ?? false }
      || operations.contains { mayAnswer(id, request, at: $0.to, of: user) }
  }

  /// Indicates whether a pending message or operation of a request can still be answered.
  func hasWayToAnswer(_ id: String, _ request: Request, of user: String, at time: Int64?) -> Bool {
    hasOpenMessage(id, of: user)
      || sessions.values.contains { session in
        session.request == id && session.isOpen
          && time.map { session.tokenExpires ?? session.expires > $0 } ?? true
          && session.target.map { mayAnswer(id, request, at: $0, of: user) } ?? false
      }
  }

  /// Indicates whether an app in use has an unanswered message for a request.
  func hasOpenMessage(_ id: String, of user: String) -> Bool {
    messages.values.contains { message in
      message.request == id && message.state == .pending
        && apps[message.app].map { $0.user == user && $0.isActive } ?? false
    }
  }

  /// Indicates whether the accepting authenticator is in use, on a device that is not locked.
  ///
  /// Another container in use on the same device counts too.
  private func isProofInUse(of request: Request, by user: String) -> Bool {
    guard missing != .proofsInUse else { return true }
    switch request.proof {
    case nil: return false
    case .app(let app): return apps[app].map { $0.user == user && $0.isActive } ?? false
    case .key(let key, _):
      return keys[key].map { isValid($0, of: user) } ?? false
    case .container(let container):
      guard let signer = containers[container] else { return false }
      return containers.values.contains {
        $0.user == signer.user && $0.device == signer.device && $0.state == .active
          && (!$0.isLocked || missing == .locksHold)
      }
    }
  }
}

// The rate limit of a client's polls for tokens (CIBA sections 7.3 and 11, `docs/protocol.md` section 11.3).
extension Model {
  /// The polling interval of a request and the time of its last poll.
  struct Pace: Hashable, Sendable {
    /// The minimum time between two polls, in seconds.
    var interval: Int64 = 5
    var last: Int64?
  }

  /// Each poll that comes too early adds the step to the interval, up to the longest; both in seconds.
  private static let (intervalStep, longestInterval): (Int64, Int64) = (5, 60)

  /// Applies a poll of a pending request.
  ///
  /// - Returns: `pending`, or `slow down` with the new interval.
  package mutating func pace(_ request: String, at time: Int64) -> String {
    var pace = paces[request] ?? Pace()
    defer { paces[request] = pace }
    // Two clocks in whole seconds may differ by one second, which must not cause `slow_down`.
    let isTooSoon = pace.last.map { $0 <= time && time < $0 + pace.interval - 1 } ?? false
    pace.last = time
    guard isTooSoon, missing != .pollsWait else { return "pending" }
    pace.interval = min(pace.interval + Self.intervalStep, Self.longestInterval)
    return "slow down \(pace.interval)"
  }
}
