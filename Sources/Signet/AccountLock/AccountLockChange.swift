public import SignetPolicy
import Synchronization

/// A container of a server, or an imported account.
public enum AccountSubject: Sendable, Hashable {
  /// A container, by its ID on this device.
  case container(Container.ID)
  /// An account.
  case account(Account.ID)
}

/// A change of the lock of a container or an account.
public struct AccountLockChange: Sendable, Hashable {
  /// The container or account.
  public let subject: AccountSubject
  /// The lock after the change.
  public let lock: AccountLock
}

/// The observers of lock changes in this process.
final class AccountLockObservers: Sendable {
  private struct State {
    var streams: [UInt64: AsyncStream<AccountLockChange>.Continuation] = [:]
    var next: UInt64 = 0
    /// The last known lock of each subject.
    var latest: [AccountSubject: AccountLockChange] = [:]
  }

  private let state = Mutex(State())

  /// A new stream of all later changes; up to 64 unread changes are kept, the newest ones.
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

  /// Publishes the lock of a subject if it differs from the last known one, also after a change by another process.
  ///
  /// - Parameters:
  ///   - change: The current lock.
  ///   - isChanged: True if the caller has just changed it, used if no earlier lock is known here; `nil` for unknown.
  func publish(_ change: AccountLockChange, isChanged: Bool? = nil) {
    let streams = state.withLock { state in
      let before = state.latest.updateValue(change, forKey: change.subject)
      let isNew = before.map { !$0.isSame(as: change) } ?? isChanged ?? false
      return isNew ? Array(state.streams.values) : []
    }
    for stream in streams { stream.yield(change) }
  }

  /// Removes the known lock of a deleted subject.
  func forget(_ subject: AccountSubject) { state.withLock { _ = $0.latest.removeValue(forKey: subject) } }
}

extension AccountLockChange {
  /// Indicates whether the same policies and locks apply; the evidence is not compared.
  fileprivate func isSame(as other: AccountLockChange) -> Bool {
    lock.broken.map(\.breach.policy) == other.lock.broken.map(\.breach.policy)
      && lock.manual == other.lock.manual && lock.server == other.lock.server
  }
}
