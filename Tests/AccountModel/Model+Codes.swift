// One-time codes of containers and of tokens (`docs/protocol.md` sections 6 and 7).
extension Model {
  /// A source of codes: a container's key, or a token.
  struct Maker: Hashable, Sendable {
    enum State: Sendable { case pending, active, disabled }

    /// The owner; `nil` for a token without a user.
    var user: String?
    /// The state of a token; a container's code key follows the state of its container.
    var state = State.pending
    /// The highest counter or time step that is used up.
    var last: Int64 = -1
    /// The number of steps that its clock is ahead, as measured by its codes.
    var drift: Int64 = 0
    /// Rejected codes in a row that were compared with its own.
    var failures = 0

    /// Assigns a token to another user, or to none; the new user has to verify it.
    mutating func give(to user: String?) {
      (self.user, failures) = (user, 0)
      if state != .disabled { state = .pending }
    }
  }

  /// The wait of an address after wrong codes for one user.
  struct CodeWait: Hashable, Sendable {
    var failures = 0
    var until: Int64 = 0
  }

  /// The operations that a caller can try with a code.
  private enum Attempt { case use, verify, resynchronise }

  mutating func takeOfCodes(_ step: Step, at time: Int64) -> String {
    switch step {
    case .code(let maker, let user, let counter, let address, _):
      return attempt(.use, maker, counter, of: user, from: address, at: time, among: makers(of: user))
    case .resynchronise(let maker, let user, let counter, let address, _):
      return attempt(
        .resynchronise, maker, counter, of: user, from: address, at: time, among: makers(of: user))
    case .verify(let token, let user, let counter, let address, _):
      let found = makers[token].map { user == nil || $0.user == user } ?? false
      let tried = found && makers[token]?.state == .pending ? [token] : []
      return attempt(
        .verify, token, counter, of: user ?? (found ? makers[token]?.user : nil),
        from: user.flatMap { _ in address }, at: time, among: tried)
    case .addToken(let token, let user):
      guard makers[token] == nil else { return "known" }
      if let user, let state = users[user], state != .active, missing != .activeUsersOnly {
        return "not active: \(state)"
      }
      if let user, users[user] == nil { return "unknown" }
      makers[token] = Maker(user: user)
      return "added"
    case .assign(let token, let user):
      if let user, users[user] == nil { return "unknownUser" }
      guard makers[token] != nil else { return "unknownToken" }
      makers[token]?.give(to: user)
      return "done"
    case .disable(let token, let isDisabled):
      guard let found = makers[token] else { return "unknownToken" }
      if isDisabled {
        makers[token]?.state = .disabled
      } else if found.state == .disabled {
        makers[token]?.state = .pending
      }
      return "done"
    case .removeToken(let token): return makers.removeValue(forKey: token) == nil ? "unknownToken" : "done"
    case .unlock(let user):
      guard users[user] != nil else { return "unknown" }
      endRow(of: user)
      for id in makers.keys where makers[id]?.user == user { makers[id]?.failures = 0 }
      codeWaits[user] = nil
      return "done"
    default: preconditionFailure("not about codes")
    }
  }

  /// The names of the user's active code sources.
  private func makers(of user: String) -> [String] {
    makers.filter { name, maker in
      guard maker.user == user else { return false }
      guard let container = containers[name] else {
        return maker.state == .active || maker.state == .pending && missing == .tokensAreVerified
      }
      return container.state == .active && (!container.isLocked || missing == .locksHold)
    }.map(\.key)
  }

  /// Compares codes with all candidates; a wrong code counts against each candidate and against the address.
  private mutating func attempt(
    _ attempt: Attempt, _ name: String, _ counter: Int64, of user: String?, from address: String?,
    at time: Int64, among candidates: [String]
  ) -> String {
    if let user, let state = users[user], state != .active, missing != .activeUsersOnly { return "refused" }
    let wait = user.flatMap { user in address.flatMap { codeWaits[user]?[$0] } } ?? CodeWait()
    let rest = wait.until - time
    // A longer wait than any failure can cause was written with another server's clock, so it does not hold.
    if rest > 0, rest <= Self.seconds(after: wait.failures), missing != .wrongCodesWait {
      return "waiting \(rest)"
    }
    let open = candidates.filter {
      attempt == .resynchronise || makers[$0]?.failures ?? 0 < Traits.codeAttempts
        || missing == .wrongCodesLock
    }
    guard candidates.isEmpty || !open.isEmpty else { return "locked" }
    if open.contains(name), let found = makers[name],
      let used = place(of: counter, attempt, name, found, time)
    {
      use(name, used, attempt, at: time)
      if let user, let address { codeWaits[user]?[address] = nil }
      return "accepted"
    }
    // For a locked token, two wrong codes in a row do not count as a further failure.
    for id in open where makers[id]?.failures ?? 0 < Traits.codeAttempts { makers[id]?.failures += 1 }
    if let user, let address {
      let failures = wait.failures + 1
      codeWaits[user, default: [:]][address] = CodeWait(
        failures: failures, until: time + Self.seconds(after: failures))
    }
    return "refused"
  }

  /// The counter or time step that a valid code, or two in a row, uses up; `nil` if it is outside the window or used before.
  private func place(
    of counter: Int64, _ attempt: Attempt, _ name: String, _ maker: Maker, _ time: Int64
  ) -> Int64? {
    guard counter >= 0 else { return nil }
    let isTimed = Traits.isTimed(name)
    let step = time / Traits.period
    let isNear: Bool
    if attempt == .resynchronise {
      isNear = isTimed ? abs(counter - step) <= 100 : counter <= maker.last + 1 + 100
    } else {
      isNear = isTimed ? abs(counter - step - maker.drift) <= 1 : counter <= maker.last + 1 + 10
    }
    guard isNear, counter > maker.last || missing == .countersGrow else { return nil }
    return attempt == .resynchronise ? counter + 1 : counter
  }

  private mutating func use(_ name: String, _ used: Int64, _ attempt: Attempt, at time: Int64) {
    guard var maker = makers[name] else { return }
    (maker.last, maker.failures, maker.state) = (used, 0, .active)
    if Traits.isTimed(name) {
      let offset = used - time / Traits.period
      let bound = attempt == .resynchronise ? Int64.max : max(20, abs(maker.drift))
      maker.drift = min(max(offset, -bound), bound)
    }
    makers[name] = maker
  }

  /// The wait of an address after this number of rejected attempts in a row, in seconds.
  private static func seconds(after failures: Int) -> Int64 {
    guard failures > Traits.freeCodeAttempts else { return 0 }
    var wait = Traits.firstCodeWait
    for _ in 1..<(failures - Traits.freeCodeAttempts) { wait = min(2 * wait, Traits.longestCodeWait) }
    return wait
  }

  /// The state of a code source without its owner.
  func text(of maker: Maker?) -> String {
    maker.map { "\($0.last) \($0.drift) \($0.failures)" } ?? "-"
  }
}
