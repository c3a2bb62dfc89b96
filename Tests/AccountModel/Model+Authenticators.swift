// UAF operations and authenticator apps.
extension Model {
  mutating func takeOfOthers(_ step: Step, at time: Int64) -> String {
    switch step {
    case .begin(let session, let user, let isRegistration, let request, let party):
      return begin(
        session,
        Session(
          user: user, isRegistration: isRegistration, request: request, party: party,
          isCounted: party != nil, target: party.map { _ in "device of \(user)" },
          expires: time + Self.sessionLifetime, policy: Traits.policy(of: session)), at: time)
    case .register(let session, let key, let publicKey, let user, let device):
      if let device, isLocked(device, of: user) { return "device locked" }
      guard isOpen(session, of: user, at: time) else { return "expired" }
      sessions[session]?.isOpen = false
      guard isEnough(key, under: sessions[session]?.policy) else { return "requirement not met" }
      let own = Holder.key(key, user: user)
      guard keys[key] == nil, holders[publicKey] ?? own == own || missing == .oneHolderOfAKey else {
        return "key exists"
      }
      holders[publicKey] = own
      keys[key] = Key(user: user, device: device)
      if let device { bind(device, of: user) }
      if sessions[session]?.isCounted == true { endRow(of: user) }
      return "accepted"
    case .login(let session, let user, let key, let counter):
      return logIn(session, user, key, counter, at: time)
    case .addApp(let app, let user):
      guard apps[app] == nil else { return "exists" }
      guard users[user] != nil else { return "unknown" }
      apps[app] = App(user: user)
      return "done"
    case .registerApp(let app):
      guard apps[app]?.isActive == false else { return "refused" }
      apps[app]?.isActive = true
      return "done"
    case .message(let message, let request, let app, let user, let expires, let party):
      guard users[user] != nil else { return "unknown" }
      guard apps[app].map({ $0.user == user && $0.isActive }) ?? false || missing == .somebodyCanAnswer else {
        return "noAuthenticator"
      }
      if let refusal = refusal(of: party, to: user, at: time) { return refusal }
      guard requests[request] == nil else { return "exists" }
      requests[request] = Request(user: user, party: party, isApps: true, expires: expires)
      count(party, to: user, at: time)
      guard apps[app]?.isActive == true else { return "added" }
      messages[message] = Message(app: app, request: request, expires: expires)
      effects.insert("sent \(message)")
      return "added"
    case .answer(let message, let approves):
      guard let found = messages[message] else { return "refused" }
      if requests[found.request]?.state(at: time) == .expired {
        end(found.request, .expired)
        return "refused"
      }
      guard found.state == .pending, found.expires > time else { return "refused" }
      if approves, let request = requests[found.request],
        !isEnough(.app(found.app), for: found.request, request)
      {
        return "insufficient"
      }
      messages[message]?.state = approves ? .approved : .denied
      end(found.request, approves ? .accepted : .denied)
      requests[found.request]?.proof = .app(found.app)
      if approves, let user = apps[found.app]?.user { endRow(of: user) }
      return "done"
    default: preconditionFailure("not about a key or an app")
    }
  }

  /// Begins an operation.
  ///
  /// Refuses if the request has ended or the user's budget of requests is spent.
  mutating func begin(_ id: String, _ session: Session, at time: Int64) -> String {
    let user = session.user
    var session = session
    if let request = session.request, let state = requests[request]?.state(at: time), state != .pending {
      if state == .expired { end(request, .expired) }
      return "transactionEnded"
    }
    if let party = session.party, users[user] != nil {
      // An operation for a request that already counts for this user is free, but only once per device.
      let wasCounted = session.request.map { requests[$0]?.user == user } ?? false
      let wasAsked = sessions.values.contains {
        $0.request == session.request && $0.target == session.target
      }
      session.isCounted = !wasCounted || wasAsked
      if session.isCounted, let refusal = refusal(of: party, to: user, at: time) { return refusal }
    }
    guard sessions[id] == nil else { return "exists" }
    guard users[user] != nil, session.request.map({ requests[$0] != nil }) ?? true else { return "unknown" }
    sessions[id] = session
    if session.isCounted, let party = session.party { count(party, to: user, at: time) }
    return "done"
  }

  func isOpen(_ session: String, of user: String, at time: Int64) -> Bool {
    guard let found = sessions[session] else { return false }
    return found.isOpen && found.tokenExpires == nil && found.user == user && found.expires > time
  }

  mutating func logIn(
    _ session: String, _ user: String, _ key: String, _ counter: UInt32, at time: Int64
  ) -> String {
    if let found = keys[key], found.user == user, let device = found.device, isLocked(device, of: user) {
      return "device locked"
    }
    guard isOpen(session, of: user, at: time) else {
      return sessions[session]?.hasEndedWithRequest == true ? "transaction over" : "expired"
    }
    sessions[session]?.isOpen = false
    let request = sessions[session]?.request
    if let request {
      if requests[request]?.state(at: time) == .expired { end(request, .expired) }
      guard let found = requests[request], found.state == .pending, !found.isApps,
        found.user == nil || found.user == user
      else {
        sessions[session]?.hasEndedWithRequest = true
        return "transaction over"
      }
    }
    guard let found = keys[key], found.user == user, found.state == .active else { return "key unknown" }
    guard isEnough(key, under: sessions[session]?.policy),
      request.map({ id in requests[id].map { isEnough(.key(key, session: session), for: id, $0) } ?? true })
        ?? true
    else { return "requirement not met" }
    guard counter > found.counter || counter == 0 && found.counter == 0 || missing == .countersGrow else {
      keys[key]?.state = .quarantined
      return "cloned authenticator"
    }
    keys[key]?.counter = counter
    if let request {
      end(request, .accepted)
      requests[request]?.user = user
      requests[request]?.proof = .key(key, session: session)
    }
    if request != nil || sessions[session]?.isCounted == true { endRow(of: user) }
    return "accepted"
  }
}
