package import SignetVault
import Synchronization

/// The keys that a session has issued and that are still in use.
package final class IssuedKeys: Sendable {
  private struct Entry { weak var key: AppDataKey? }
  private let entries = Mutex<[Entry]>([])

  /// Creates an empty list.
  package init() {}

  /// Records a key, for as long as it is in use.
  package func note(_ key: AppDataKey) {
    entries.withLock { entries in
      // Cleaned before each growth, so the list is at most about as long as the number of keys in use.
      if entries.count == entries.capacity { entries.removeAll { $0.key == nil } }
      entries.append(Entry(key: key))
    }
  }

  /// Revokes all recorded keys.
  package func revoke(because reason: LockReason) {
    let keys = entries.withLock { entries in
      defer { entries = [] }
      return entries.compactMap(\.key)
    }
    for key in keys { key.revoke(because: reason) }
  }
}
