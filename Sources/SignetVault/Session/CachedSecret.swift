import Synchronization

/// A secret that is kept for a while after its user authenticated, and wiped when that is over.
///
/// Time is up when a limit is reached, the machine slept, or a clock was changed. That is found at each use, and by a task that
/// looks every few seconds as long as there is something to wipe.
package final class CachedSecret<Secret: ~Copyable & Sendable>: Sendable {
  private struct State: ~Copyable {
    var secret: Secret?
    var limits = SessionLimits(idleTimeout: nil, maximumAge: nil)
    var times: SessionTimes?
    var reason = LockReason.notUnlocked
    /// How often it was to be wiped, whether anything was kept or not, and why the last time.
    var lastWipe = (number: 0, reason: LockReason.notUnlocked)
    var guardian: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let clock: any TrustedClock
  private let onWipe: @Sendable (LockReason) -> Void

  /// Keeps nothing yet.
  ///
  /// - Parameters:
  ///   - clock: What limits are measured with.
  ///   - onWipe: Called each time a secret was wiped, after it was.
  package init(clock: any TrustedClock, onWipe: @escaping @Sendable (LockReason) -> Void = { _ in }) {
    (self.clock, self.onWipe) = (clock, onWipe)
  }

  deinit {
    state.withLock { state in
      state.guardian?.cancel()
      state.secret = nil
    }
  }

  /// The moment at which opening something began that is to be kept.
  package struct Beginning: Sendable { fileprivate let wipes: Int }

  /// Now, to be taken before the secret is opened: that lasts, and a lock that comes meanwhile must not be lost.
  package var beginning: Beginning { Beginning(wipes: state.withLock { $0.lastWipe.number }) }

  /// Keeps a secret from now on, in the place of what was kept.
  ///
  /// - Parameters:
  ///   - secret: What is kept.
  ///   - limits: For how long.
  ///   - beginning: When opening it began; `nil` where that took no time.
  /// - Returns: Why it was wiped instead: there was a lock since the beginning. `nil` if it is kept.
  @discardableResult
  package func keep(
    _ secret: consuming Secret, limits: SessionLimits, since beginning: Beginning? = nil
  ) -> LockReason? {
    var secret: Secret? = consume secret
    let now = clock.now
    return state.withLock { state in
      if let beginning, beginning.wipes != state.lastWipe.number { return state.lastWipe.reason }
      state.guardian?.cancel()
      state.limits = limits
      let times = SessionTimes(now)
      state.times = times
      state.secret = secret.take()
      let first = limits.verdict(times, now)
      state.guardian = Task { [weak self, clock] in
        var verdict: SessionLimits.Verdict? = first
        // A look a moment too late does no harm: each use looks for itself. The first is after the first wait, and nothing
        // here holds the secret while it waits: who drops it wipes it at once.
        while case .stay(let rest) = verdict {
          do { try await Task.sleep(for: rest, clock: .continuous) } catch { return }
          verdict = self?.look(clock.now, isUse: false)
        }
      }
      return nil
    }
  }

  /// Lends the secret to `body`.
  ///
  /// - Throws: What `body` throws.
  /// - Returns: What `body` returns; `nil` if nothing is kept any more.
  package func withSecret<Result, Failure: Error>(
    _ body: (borrowing Secret) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard case .stay = look(clock.now, isUse: true) else { return nil }
    return try state.withLock { state throws(Failure) in
      // It may have been wiped since it was looked at.
      switch state.secret {
      case .some(let secret): try body(secret)
      case .none: nil
      }
    }
  }

  /// Hands the secret over, so that it cannot be used again.
  ///
  /// - Returns: `nil` if nothing is kept any more.
  package func take() -> Secret? {
    guard case .stay = look(clock.now, isUse: true) else { return nil }
    return state.withLock { state in
      guard state.secret != nil else { return nil }
      state.reason = .used
      state.guardian?.cancel()
      return state.secret.take()
    }
  }

  /// Wipes what is kept, if there is anything.
  package func wipe(because reason: LockReason) {
    let isWiped = state.withLock { state in
      state.lastWipe = (state.lastWipe.number + 1, reason)
      guard state.secret != nil else { return false }
      state.secret = nil
      state.reason = reason
      state.guardian?.cancel()
      return true
    }
    if isWiped { onWipe(reason) }
  }

  /// Why nothing is kept; `nil` while something is.
  package var reason: LockReason? {
    if case .lock(let reason) = look(clock.now, isUse: false) { return reason }
    return nil
  }

  /// Wipes what may not be kept any longer.
  @discardableResult
  private func look(_ now: TrustedTime, isUse: Bool) -> SessionLimits.Verdict {
    let (verdict, isWiped) = state.withLock { state -> (SessionLimits.Verdict, Bool) in
      guard state.secret != nil, let times = state.times else { return (.lock(state.reason), false) }
      let verdict = state.limits.verdict(times, now)
      if case .lock(let reason) = verdict {
        state.secret = nil
        state.reason = reason
        state.guardian?.cancel()
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
