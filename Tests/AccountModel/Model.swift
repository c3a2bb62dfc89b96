/// The rules of the server as a small state machine: its state, and the effect of each step.
///
/// The model is written from the decisions 196, 197, 199 and 206 (users, locks, requests) and shares no code with the server. It applies the
/// steps in the order in which they became durable.
package struct Model: Hashable, Sendable {
  enum UserState: String, Sendable { case active, suspended, deleted }

  struct Container: Hashable, Sendable {
    enum State: Sendable { case pending, active, revoked }

    var user: String
    let device: UInt8
    let activation: String
    let renews: String?
    var state = State.pending
    var isLocked = false
    var hasEnded = false
  }

  struct Device: Hashable, Sendable {
    let user: String
    let number: UInt8
  }

  struct Order: Hashable, Sendable {
    var container: String
    let kind: Step.OrderKind
    var isReceived = false
  }

  struct Request: Hashable, Sendable {
    enum State: String, Sendable { case pending, accepted, denied, withdrawn, expired }

    var user: String?
    /// The relying party's key or the OpenID Connect client that asks.
    let party: String
    var isClients = false
    /// Indicates whether the request goes to one app alone.
    var isApps = false
    /// Indicates whether a container's approval needs the number that the party shows; the count is that of wrong numbers.
    var hasNumber = false
    var wrongNumbers = 0
    let expires: Int64
    var state = State.pending
    /// The authenticator that answered.
    var proof: Proof?
    /// The end; for an expired request, the last second in which it could be answered.
    var ended: Int64?
    /// Indicates whether the client has received its tokens.
    var hasTokens = false

    func state(at time: Int64) -> State { state == .pending && expires <= time ? .expired : state }
  }

  /// The authenticator that answered a request.
  enum Proof: Hashable, Sendable {
    case container(String)
    /// A key, and the operation in which it answered.
    case key(String, session: String)
    case app(String)

    /// The container, the operation or the app.
    var name: String {
      switch self {
      case .container(let name), .key(_, let name), .app(let name): name
      }
    }
  }

  struct Key: Hashable, Sendable {
    enum State: Sendable { case active, quarantined, revoked }

    let user: String
    /// The device that the key's client reported.
    let device: UInt8?
    var counter: UInt32 = 0
    var state = State.active
  }

  /// The owner of a public key.
  enum Holder: Hashable, Sendable {
    case container
    case key(String, user: String)
    /// The authenticator was deleted with its user.
    case nobody
  }

  struct Session: Hashable, Sendable {
    let user: String
    let isRegistration: Bool
    let request: String?
    /// The party that sent the operation to the user's device; `nil` if none did.
    let party: String?
    /// Indicates whether the operation counts against the user's budget by itself.
    var isCounted: Bool
    /// The target of its token, or a placeholder for the device that was asked.
    var target: String?
    /// The time until which its token can be redeemed; `nil` if it was redeemed or does not exist.
    var tokenExpires: Int64?
    var expires: Int64
    var isOpen = true
    /// The requirement that its keys have to meet; `nil` for none.
    var policy: String?
    /// Indicates whether it ended together with its request.
    var hasEndedWithRequest = false
  }

  struct Target: Hashable, Sendable {
    let user: String
    /// The device that the target's client reported.
    let device: UInt8?
  }

  struct App: Hashable, Sendable {
    let user: String
    var isActive = false
  }

  struct Message: Hashable, Sendable {
    enum State: Sendable { case pending, approved, denied, expired }

    let app: String
    /// The request that the answer decides.
    let request: String
    let expires: Int64
    var state = State.pending
  }

  /// Rules that a test can leave out to show that their absence is detected.
  package enum Rule: Sendable {
    case activeUsersOnly, countersGrow, locksHold, firstEndWins, goodKeysOnly, somebodyCanAnswer,
      oneHolderOfAKey, oneBudget, shares, goodClientsOnly, tokensOnce, proofsInUse, deviceLocksHold,
      tokensExpire, requirementsAreMet, claimsProveNothing, pollsWait, expiriesAreNoNews,
      numbersMatch, appsShowLittle, tokensAreVerified, wrongCodesWait, wrongCodesLock
  }

  /// The rate limit of requests to a user.
  package struct Budget: Hashable, Sendable {
    /// The number of requests that may be pending at once, and the number in a row without an acceptance.
    package let pending: Int, challenges: Int
    /// The first and the longest wait after that, in seconds.
    package let wait: Int64, longestWait: Int64

    package init(pending: Int, challenges: Int, wait: Int64, longestWait: Int64) {
      (self.pending, self.challenges, self.wait, self.longestWait) = (pending, challenges, wait, longestWait)
    }
  }

  /// Requests in a row without an acceptance, and the end of the wait before the next one.
  struct Row: Hashable, Sendable {
    var count = 0
    /// The end of the wait; 0 for no wait.
    var until: Int64 = 0

    /// Counts one request; from the count `first` on, the next request has to wait.
    mutating func add(_ first: Int, _ budget: Budget, at time: Int64) {
      count += 1
      guard count >= first else { return until = 0 }
      var wait = budget.wait
      for _ in first..<count { wait = min(2 * wait, budget.longestWait) }
      until = time + min(wait, budget.longestWait)
    }
  }

  var users: [String: UserState] = [:]
  /// Relying parties; true if the key is valid.
  var parties: [String: Bool] = [:]
  /// Clients of OpenID Connect; true if the client is registered.
  var clients: [String: Bool] = [:]
  var invites: [String: Invite] = [:]
  var containers: [String: Container] = [:]
  /// Devices to which an authenticator is or was bound; true if the device itself is locked.
  var devices: [Device: Bool] = [:]
  var orders: [String: Order] = [:]
  /// Sources of codes, by the name of the container or token.
  var makers: [String: Maker] = [:]
  /// By user, then by address.
  var codeWaits: [String: [String: CodeWait]] = [:]
  var requests: [String: Request] = [:]
  var keys: [String: Key] = [:]
  /// The public keys that were ever registered, each with its first owner.
  var holders: [String: Holder] = [:]
  var sessions: [String: Session] = [:]
  var targets: [String: Target] = [:]
  var apps: [String: App] = [:]
  var messages: [String: Message] = [:]
  /// By user.
  var rows: [String: Row] = [:]
  /// By user, then by party.
  var shares: [String: [String: Row]] = [:]
  /// The pace of each polled request, independent of the rest of the state.
  var paces: [String: Pace] = [:]
  private var deletions = 0
  /// The time of the current step; 0 between two steps.
  private var now: Int64 = 0
  let missing: Rule?
  let budget: Budget?
  /// The side effects of the last step, in the words of the log.
  var effects: Set<String> = []

  struct Invite: Hashable, Sendable {
    var user: String
    var isOpen = true
  }

  /// The lifetime of a UAF operation, in seconds.
  package static let sessionLifetime: Int64 = 300

  /// A server without any data.
  ///
  /// - Parameters:
  ///   - missing: A rule to leave out.
  ///   - budget: The rate limit of requests to a user; `nil` for none.
  package init(without missing: Rule? = nil, budget: Budget? = nil) {
    (self.missing, self.budget) = (missing, budget)
  }

  /// Applies a step.
  ///
  /// - Returns: The outcome that the caller sees.
  package mutating func take(_ step: Step, at time: Int64) -> String {
    effects = []
    now = time
    defer { now = 0 }
    let outcome = outcome(of: step, at: time)
    // A request stays pending only while an authenticator could answer it.
    for (id, request) in requests where request.state == .pending && !canAnswer(id, request) { withdraw(id) }
    return outcome
  }

  /// Returns the side effects of the last step, in the words of the log, and clears them.
  package mutating func takeEffects() -> Set<String> {
    defer { effects = [] }
    return effects
  }

  mutating func outcome(of step: Step, at time: Int64) -> String {
    if let party = asker(of: step), parties[party] != true, missing != .goodKeysOnly { return "keyRevoked" }
    if case .backchannel(_, _, _, _, _, let client) = step, clients[client] == false,
      missing != .goodClientsOnly
    {
      return "clientRevoked"
    }
    if let user = gatedUser(of: step), let state = users[user], state != .active, missing != .activeUsersOnly
    {
      return "not active: \(state)"
    }
    if let user = knownUser(in: step), users[user] == nil { return "unknown" }
    switch step {
    case .addUser(let user):
      guard users[user] == nil else { return "exists" }
      users[user] = .active
      return "done"
    case .suspend(let user):
      guard let state = users[user] else { return "unknown" }
      guard state == .active else { return "unchanged" }
      users[user] = .suspended
      endAll(of: user)
      return "changed"
    case .resume(let user):
      guard let state = users[user] else { return "unknown" }
      guard state == .suspended else { return "unchanged" }
      users[user] = .active
      return "changed"
    case .delete(let user):
      guard users[user] != nil else { return "unknown" }
      endAll(of: user)
      removeAll(of: user)
      forget(user)
      return "changed"
    case .addParty(let party):
      guard parties[party] == nil else { return "exists" }
      parties[party] = true
      return "done"
    case .revokeParty(let party):
      // The last valid party cannot be revoked.
      guard parties.filter(\.value).keys.sorted() != [party] else { return "last" }
      guard parties[party] != nil else { return "unknown" }
      parties[party] = false
      return "revoked"
    case .removeKey(let key, let user):
      guard let found = keys[key], found.user == user, found.state != .revoked else { return "nothing" }
      keys[key] = nil
      return "done"
    case .removeApp(let app):
      guard apps.removeValue(forKey: app) != nil else { return "nothing" }
      messages = messages.filter { $0.value.app != app }
      return "done"
    case .sweep: return "done"
    case .invite, .finish, .confirm, .stage, .revoke, .order, .receipt: return takeOfContainer(step)
    case .code, .resynchronise, .verify, .addToken, .assign, .disable, .removeToken, .unlock:
      return takeOfCodes(step, at: time)
    case .end, .lockDevice, .unlockDevice, .revokeDevice: return takeOfDevice(step)
    case .ask, .decide, .withdraw: return takeOfRequest(step, at: time)
    case .addClient, .revokeClient, .backchannel, .poll, .issue: return takeOfClient(step, at: time)
    case .addTarget, .removeTarget, .removeUAF, .token, .redeem, .refuse:
      return takeOfTarget(step, at: time)
    case .begin, .register, .login, .addApp, .registerApp, .message, .answer:
      return takeOfOthers(step, at: time)
    }
  }

  /// Marks a pending request as expired if its time has passed.
  ///
  /// - Returns: Whether the request has expired.
  package mutating func expire(_ request: String, at time: Int64) -> Bool {
    guard let found = requests[request], found.state == .pending, found.expires <= time else { return false }
    end(request, .expired)
    return true
  }

  /// Ends a request if everything that was sent for it has expired, so that no answer is possible.
  ///
  /// Only some steps look for such requests; the log names the requests that a step has found.
  ///
  /// - Returns: Whether the request has ended.
  package mutating func endByTime(_ request: String, at time: Int64) -> Bool {
    guard let found = requests[request], found.state(at: time) == .pending,
      !canAnswer(request, found, at: time)
    else { return false }
    now = time
    defer { now = 0 }
    end(request, .withdrawn)
    return true
  }

  /// The party with whose key a step is made.
  func asker(of step: Step) -> String? {
    switch step {
    case .ask(_, _, _, let party), .code(_, _, _, _, let party), .resynchronise(_, _, _, _, let party),
      .withdraw(_, let party), .message(_, _, _, _, _, let party):
      party
    case .verify(_, _, _, _, let party): party
    default: nil
    }
  }

  /// The user who must have existed when the operation that a step continues began.
  func knownUser(in step: Step) -> String? {
    switch step {
    case .finish(_, _, let user, _), .register(_, _, _, let user, _), .login(_, let user, _, _): user
    default: nil
    }
  }

  /// The user for whom a step accepts an answer or binds an authenticator.
  func gatedUser(of step: Step) -> String? {
    switch step {
    case .invite(_, let user), .finish(_, _, let user, _), .addApp(_, let user): user
    case .confirm(let container): containers[container]?.user
    case .stage(_, let renewed, _, _, _): containers[renewed]?.user
    case .ask(_, let user, _, _): user
    case .message(_, _, _, let user, _, _): user
    case .backchannel(_, let user, _, _, _, _): user
    case .addTarget(_, let user, _), .token(_, _, let user, _, _, _): user
    case .assign(_, let user): user
    case .redeem(let session): sessions[session].flatMap { $0.isOpen ? $0.user : nil }
    case .begin(_, let user, _, _, _), .register(_, _, _, let user, _), .login(_, let user, _, _): user
    case .registerApp(let app): apps[app]?.user
    case .answer(let message, let approves): approves ? messages[message].flatMap { apps[$0.app]?.user } : nil
    default: nil
    }
  }

  // MARK: Requests

  mutating func takeOfRequest(_ step: Step, at time: Int64) -> String {
    switch step {
    case .ask(let request, let user, let expires, let party):
      if let user, users[user] == nil { return "unknown" }
      var asked = Request(user: user, party: party, expires: expires)
      asked.hasNumber = Traits.hasNumber(request)
      guard canAnswer(request, asked) else { return "noAuthenticator" }
      if let user, let refusal = refusal(of: party, to: user, at: time) { return refusal }
      guard requests[request] == nil else { return "exists" }
      requests[request] = asked
      if let user { count(party, to: user, at: time) }
      return "added"
    case .decide(let container, let user, _, let request, let accepts, let isNumberRight):
      guard let signer = containers[container], signer.state == .active else { return "signer changed" }
      guard let found = requests[request], !found.isApps, found.user == nil || found.user == user else {
        return "unknown"
      }
      // For an ended request, the outcome is its end.
      if accepts, found.state(at: time) == .pending, !isEnough(.container(container), for: request, found) {
        return "mismatch"
      }
      // Any user with a container in use may deny, even a suspended one.
      if accepts, let state = users[user], state != .active, missing != .activeUsersOnly {
        return "not active: \(state)"
      }
      if signer.isLocked, accepts, missing != .locksHold { return "container locked" }
      let state: Request.State = accepts ? .accepted : .denied
      switch found.state(at: time) {
      case .pending: break
      case .expired:
        end(request, .expired)
        return "expired"
      case .accepted, .denied:
        guard missing == .firstEndWins else {
          return found.state == state && found.proof == .container(container) ? "repeated" : "decided before"
        }
      case .withdrawn: return "cancelled"
      }
      if accepts, found.hasNumber, !isNumberRight, missing != .numbersMatch {
        requests[request]?.wrongNumbers += 1
        let left = Traits.wrongNumbers - found.wrongNumbers - 1
        if left == 0 {
          end(request, .denied)
          requests[request]?.user = user
        }
        return "wrong number, \(left) left"
      }
      end(request, state)
      requests[request]?.proof = .container(container)
      requests[request]?.user = user
      if accepts { endRow(of: user) }
      return "decided"
    case .withdraw(let request, _):
      guard let found = requests[request] else { return "unknown" }
      switch found.state(at: time) {
      case .pending:
        end(request, .withdrawn)
        return "decided"
      case .expired:
        end(request, .expired)
        return "expired"
      case .accepted, .denied: return "decided before"
      case .withdrawn: return "repeated"
      }
    default: preconditionFailure("not about a request")
    }
  }

  // MARK: Ends

  /// Ends a request and its messages and operations.
  mutating func end(_ request: String, _ state: Request.State) {
    requests[request]?.state = state
    if let found = requests[request] {
      requests[request]?.ended = state == .expired ? found.expires : now
    }
    for id in messages.keys where messages[id]?.request == request && messages[id]?.state == .pending {
      messages[id]?.state = .expired
    }
    for id in sessions.keys where sessions[id]?.request == request && sessions[id]?.isOpen == true {
      sessions[id]?.isOpen = false
      sessions[id]?.hasEndedWithRequest = true
    }
  }

  /// Withdraws a request that no authenticator can answer any more, unless it has expired; the log records either.
  mutating func withdraw(_ request: String) {
    guard requests[request]?.state(at: now) == .pending else { return }
    end(request, .withdrawn)
    effects.insert("ended \(request)")
  }

  mutating func endAll(of user: String) {
    for (id, request) in requests where request.user == user && request.state == .pending { withdraw(id) }
    for id in invites.keys where invites[id]?.user == user { invites[id]?.isOpen = false }
    apps = apps.filter { $0.value.user != user || $0.value.isActive }
    for id in sessions.keys where sessions[id]?.user == user { sessions[id]?.isOpen = false }
  }

  mutating func removeAll(of user: String) {
    endRow(of: user)
    messages = messages.filter { apps[$0.value.app]?.user != user }
    apps = apps.filter { $0.value.user != user }
    keys = keys.filter { $0.value.user != user }
    targets = targets.filter { $0.value.user != user }
    for (name, holder) in holders {
      switch holder {
      case .key(_, user): holders[name] = .nobody
      case .container where containers[name]?.user == user: holders[name] = .nobody
      default: break
      }
    }
    sessions = sessions.filter { session in
      session.value.user != user && session.value.request.map { requests[$0]?.user != user } ?? true
    }
    // An OpenID Connect client may still poll for the end of its request.
    requests = requests.filter { $0.value.user != user || $0.value.isClients }
    for id in containers.keys where containers[id]?.user == user {
      containers[id]?.state = .revoked
      makers[id] = nil
    }
    // Tokens return to the stock.
    for id in makers.keys where makers[id]?.user == user { makers[id]?.give(to: nil) }
    codeWaits[user] = nil
    devices = devices.filter { $0.key.user != user }
    orders = orders.filter { containers[$0.value.container]?.user != user }
  }

  /// Renames the remains of a deleted user, since another user may get the same ID.
  mutating func forget(_ user: String) {
    let nobody = "deleted \(deletions)"
    deletions += 1
    users[user] = nil
    users[nobody] = .deleted
    for id in invites.keys where invites[id]?.user == user { invites[id]?.user = nobody }
    for id in containers.keys where containers[id]?.user == user { containers[id]?.user = nobody }
    for id in requests.keys where requests[id]?.user == user { requests[id]?.user = nobody }
  }
}

extension Model {
  /// The expected contents of the database, by name.
  package var description: [String: String] {
    var all: [String: String] = [:]
    for (id, state) in users where state != .deleted { all[id] = "\(state)" }
    for (id, isValid) in parties { all[id] = isValid ? "good" : "revoked" }
    for (id, found) in containers where users[found.user] != .deleted {
      all[id] = "\(found.state)\(found.isLocked ? " locked" : "") \(text(of: makers[id]))"
    }
    for (id, maker) in makers where containers[id] == nil {
      all[id] = "\(maker.state) \(maker.user ?? "-") \(text(of: maker))"
    }
    for (id, found) in orders {
      all[id] = "\(found.container) \(found.kind)\(found.isReceived ? " received" : "")"
    }
    for (device, isLockedItself) in devices {
      all["\(device.user)/\(device.number)"] =
        "\(isLocked(device.number, of: device.user) ? "locked" : "open")\(isLockedItself ? " itself" : "")"
    }
    for (id, found) in keys { all[id] = "\(found.state) \(found.counter)" }
    for (id, found) in targets { all[id] = "\(found.user)/\(found.device.map { "\($0)" } ?? "-")" }
    for (id, found) in apps { all[id] = found.isActive ? "active" : "open" }
    for (id, isValid) in clients { all[id] = isValid ? "good" : "revoked" }
    for (id, found) in requests { all[id] = text(of: found) }
    return all
  }

  /// The state of a request, its user and its answer.
  func text(of request: Request) -> String {
    let user = request.user.map { users[$0] == .deleted ? "nobody" : $0 }
    return "\(request.state) \(user ?? "-") \(request.proof?.name ?? "-")"
  }
}
