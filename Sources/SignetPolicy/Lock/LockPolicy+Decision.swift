extension LockPolicy {
  /// Decides whether one more attempt may be made.
  ///
  /// Call this before the attempt, and store `state.countingAttempt(at:)` durably before trying: then neither a crash nor a
  /// second process gains a guess.
  ///
  /// A wait is measured from the last attempt, in time that does not depend on the wall clock. After a restart of the
  /// machine it is measured from the restart, because no trusted source says how long the machine was off. The wait can then
  /// be longer, but never shorter.
  ///
  /// - Parameters:
  ///   - state: The stored count.
  ///   - now: The moment of the attempt.
  /// - Returns: The decision, with the number of attempts left.
  public func decision(after state: AttemptState, at now: BootInstant) -> AttemptDecision {
    let remaining = limit.map { $0 - state.failedCount }
    if let remaining, remaining <= 0 { return consequence == .wipe ? .wipe : .lockedOut }
    let pending = wait(afterFailure: state.failedCount) * 1000 - now.milliseconds(since: state.lastAttempt)
    return pending > 0 ? .wait(.milliseconds(pending), remaining: remaining) : .allowed(remaining: remaining)
  }

  /// Returns the state of the lock without counting an attempt.
  ///
  /// - Parameters:
  ///   - state: The stored count.
  ///   - now: The present moment.
  /// - Returns: The status; always ``LockStatus/unlocked`` under ``silent``.
  public func status(after state: AttemptState, at now: BootInstant) -> LockStatus {
    switch decision(after: state, at: now) {
    case .lockedOut, .wipe: .lockedOut
    case .wait(let retryAfter, let remaining):
      .lastAttemptFailed(remaining: remaining, retryAfter: retryAfter)
    case .allowed(let remaining):
      state.failedCount == 0 || self == .silent
        ? .unlocked : .lastAttemptFailed(remaining: remaining, retryAfter: .zero)
    }
  }

  /// The maximum number of failures in a row; `nil` if unlimited.
  public var limit: Int? {
    switch self {
    case .none, .delay, .silent: nil
    case .lock(let limit, _): min(limit, Self.allowedLimits.upperBound)
    case .coolDown(let waits, _): min(waits.count + 1, Self.allowedLimits.upperBound)
    }
  }

  /// The consequence at the limit; unused if there is no limit.
  public var consequence: LimitConsequence {
    switch self {
    case .none, .delay, .silent: .lockOut
    case .lock(_, let consequence), .coolDown(_, let consequence): consequence
    }
  }

  /// Returns the wait before the next attempt.
  ///
  /// - Parameter failures: Failures in a row, 0 or more.
  /// - Returns: Seconds after the last failure, 0 to ``longestWait``.
  public func wait(afterFailure failures: Int) -> Int64 {
    guard failures > 0 else { return 0 }
    switch self {
    case .none, .lock, .silent: return 0
    case .delay(let seconds, let counter):
      let doublings = min(failures, max(counter, 1), Self.allowedCounters.upperBound) - 1
      return Int64(min(max(seconds, 0), Self.longestWait) << doublings).clampedToWait
    case .coolDown(let waits, _):
      return waits.indices.contains(failures - 1) ? Int64(waits[failures - 1]).clampedToWait : 0
    }
  }

  /// Validates the numbers of the policy.
  ///
  /// - Throws: ``PolicyFailure/outOfRange(rule:value:allowed:)`` for the first number out of range.
  public func validate() throws(PolicyFailure) {
    if let failure = failures.first { throw failure }
  }

  /// All numbers out of range.
  var failures: [PolicyFailure] {
    let rules = LockRules(self)
    let outOfRange = rules.rows.outOfRange(rules)
    func check(_ rule: PolicyRule, _ value: Int, _ allowed: ClosedRange<Int>) -> [PolicyFailure] {
      allowed.contains(value) ? [] : [.outOfRange(rule: rule.name, value: value, allowed: allowed)]
    }
    switch self {
    case .delay(let seconds, let counter) where outOfRange.isEmpty:
      return check(.delay, seconds, 1...(Self.longestWait >> (counter - 1)))
    case .coolDown(let waits, _):
      // The table has an entry for each failure except the last.
      let lengthFailure = check(.waits, waits.count, 1...(Self.allowedLimits.upperBound - 1))
      return lengthFailure + waits.prefix(100).flatMap { check(.waits, $0, 0...Self.longestWait) }
    default: return outOfRange
    }
  }
}

extension Int64 {
  fileprivate var clampedToWait: Int64 { Swift.min(Swift.max(self, 0), Int64(LockPolicy.longestWait)) }
}
