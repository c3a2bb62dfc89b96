import Synchronization

/// Who hears of locks that change.
final class AccountLockObservers: Sendable {
  private struct State {
    var streams: [UInt64: AsyncStream<AccountLockChange>.Continuation] = [:]
    var next: UInt64 = 0
    /// What was told, or seen, last.
    var known: [AccountSubject: AccountLockChange] = [:]
  }

  private let state = Mutex(State())

  /// All changes from now on; what nobody reads is kept up to 64.
  var changes: AsyncStream<AccountLockChange> {
    AsyncStream(bufferingPolicy: .bufferingNewest(64)) { stream in
      let number = state.withLock { state in
        state.next += 1
        state.streams[state.next] = stream
        return state.next
      }
      stream.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
      }
    }
  }

  /// Tells what locks a subject, where it is something else than was known here before: whoever has changed it, in whatever process.
  ///
  /// - Parameters:
  ///   - change: What locks it now.
  ///   - isChanged: Whether it was another one just before; `nil` where only what was seen here tells.
  func tell(_ change: AccountLockChange, isChanged: Bool? = nil) {
    let streams = state.withLock { state in
      let before = state.known.updateValue(change, forKey: change.subject)
      let isNews = before.map { !$0.isSame(as: change) } ?? isChanged ?? false
      return isNews ? Array(state.streams.values) : []
    }
    for stream in streams { stream.yield(change) }
  }

  /// Forgets a subject that is gone.
  func forget(_ subject: AccountSubject) { state.withLock { _ = $0.known.removeValue(forKey: subject) } }
}

extension AccountLockChange {
  /// Whether the same locks, newer evidence aside.
  fileprivate func isSame(as other: AccountLockChange) -> Bool {
    lock.broken.map(\.breach.policy) == other.lock.broken.map(\.breach.policy)
      && lock.manual == other.lock.manual && lock.server == other.lock.server
  }
}
