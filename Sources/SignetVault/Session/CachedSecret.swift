import Synchronization

/// A secret that is kept for a limited time after its user authenticated, then wiped.
///
/// The secret expires if a limit is reached, the machine slept, or a clock was changed. Each use checks this. A task also
/// checks every few seconds while there is a secret.
package final class CachedSecret<Secret: ~Copyable & Sendable>: Sendable {
  private struct State: ~Copyable {
    var secret: Secret?
    var limits = SessionLimits(idleTimeout: nil, maximumAge: nil)
    var times: SessionTimes?
    var reason = LockReason.notUnlocked
    /// The number of wipe requests, even without a secret, and the reason of the last one.
    var lastWipe = (number: 0, reason: LockReason.notUnlocked)
    var expiryTask: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let clock: any TrustedClock
  private let onWipe: @Sendable (LockReason) -> Void

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - clock: Measures the limits.
  ///   - onWipe: Called after each wipe of a secret.
  package init(clock: any TrustedClock, onWipe: @escaping @Sendable (LockReason) -> Void = { _ in }) {
    (self.clock, self.onWipe) = (clock, onWipe)
  }

  deinit {
    state.withLock { state in
      state.expiryTask?.cancel()
      state.secret = nil
    }
  }

  /// The time at which an opening operation started.
  package struct Beginning: Sendable { fileprivate let wipes: Int }

  /// The current time, to take before opening the secret: opening is slow, and a lock during it must not be lost.
  package var beginning: Beginning { Beginning(wipes: state.withLock { $0.lastWipe.number }) }

  /// Keeps a secret from now on; replaces the previous one.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - limits: The limits of its lifetime.
  ///   - beginning: The time at which opening started; `nil` if opening took no time.
  /// - Returns: The reason why the secret was wiped instead, if there was a lock since the beginning; `nil` if it is kept.
  @discardableResult
  package func keep(
    _ secret: consuming Secret, limits: SessionLimits, since beginning: Beginning? = nil
  ) -> LockReason? {
    var secret: Secret? = consume secret
    let now = clock.now
    return state.withLock { state in
      if let beginning, beginning.wipes != state.lastWipe.number { return state.lastWipe.reason }
      state.expiryTask?.cancel()
      state.limits = limits
      let times = SessionTimes(now)
      state.times = times
      state.secret = secret.take()
      let first = limits.verdict(times, now)
      state.expiryTask = Task { [weak self, clock] in
        var verdict: SessionLimits.Verdict? = first
        // A late check does no harm, because each use checks for itself. The first check follows the first sleep. The task
        // does not hold this object while it sleeps, so releasing the object wipes the secret at once.
        while case .stay(let rest) = verdict {
          do { try await Task.sleep(for: rest, clock: .continuous) } catch { return }
          verdict = self?.check(clock.now, isUse: false)
        }
      }
      return nil
    }
  }

  /// Lends the secret to `body`.
  ///
  /// - Throws: Any error of `body`.
  /// - Returns: The result of `body`; `nil` if there is no secret.
  package func withSecret<Result, Failure: Error>(
    _ body: (borrowing Secret) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard case .stay = check(clock.now, isUse: true) else { return nil }
    return try state.withLock { state throws(Failure) in
      // The secret may have been wiped since the check.
      switch state.secret {
      case .some(let secret): try body(secret)
      case .none: nil
      }
    }
  }

  /// Removes and returns the secret, so that it cannot be used again.
  ///
  /// - Returns: `nil` if there is no secret.
  package func take() -> Secret? {
    guard case .stay = check(clock.now, isUse: true) else { return nil }
    return state.withLock { state in
      guard state.secret != nil else { return nil }
      state.reason = .used
      state.expiryTask?.cancel()
      return state.secret.take()
    }
  }

  /// Wipes the secret if there is one.
  package func wipe(because reason: LockReason) {
    let isWiped = state.withLock { state in
      state.lastWipe = (state.lastWipe.number + 1, reason)
      guard state.secret != nil else { return false }
      state.secret = nil
      state.reason = reason
      state.expiryTask?.cancel()
      return true
    }
    if isWiped { onWipe(reason) }
  }

  /// The reason why there is no secret; `nil` while there is one.
  package var reason: LockReason? {
    if case .lock(let reason) = check(clock.now, isUse: false) { return reason }
    return nil
  }

  /// Wipes the secret if it has expired.
  @discardableResult
  private func check(_ now: TrustedTime, isUse: Bool) -> SessionLimits.Verdict {
    let (verdict, isWiped) = state.withLock { state -> (SessionLimits.Verdict, Bool) in
      guard state.secret != nil, let times = state.times else { return (.lock(state.reason), false) }
      let verdict = state.limits.verdict(times, now)
      if case .lock(let reason) = verdict {
        state.secret = nil
        state.reason = reason
        state.expiryTask?.cancel()
        return (verdict, true)
      }
      state.times?.seen = now
      if isUse { state.times?.used = now }
      return (verdict, false)
    }
    if isWiped, case .lock(let reason) = verdict { onWipe(reason) }
    return verdict
  }
}
