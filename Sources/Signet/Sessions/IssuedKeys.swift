package import SignetVault
import Synchronization

/// The keys that a session gave out and that are still in use.
package final class IssuedKeys: Sendable {
  private struct Entry { weak var key: AppDataKey? }
  private let entries = Mutex<[Entry]>([])

  /// Notes none yet.
  package init() {}

  /// Notes a key, as long as somebody uses it.
  package func note(_ key: AppDataKey) {
    entries.withLock { entries in
      // Emptied whenever it would grow, so that it stays as long as the list of keys in use.
      if entries.count == entries.capacity { entries.removeAll { $0.key == nil } }
      entries.append(Entry(key: key))
    }
  }

  /// Takes all back.
  package func revoke(because reason: LockReason) {
    let keys = entries.withLock { entries in
      defer { entries = [] }
      return entries.compactMap(\.key)
    }
    for key in keys { key.revoke(because: reason) }
  }
}
