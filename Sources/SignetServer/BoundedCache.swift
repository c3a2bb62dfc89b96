import Synchronization

/// What was good when it was last looked up, by its name; that it still is, is asked in the write that relies on it.
final class BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let limit: Int
  private let values = Mutex<[Key: Value]>([:])

  /// Remembers at most so many; then all are forgotten, and looked up again.
  init(limit: Int) { self.limit = limit }

  subscript(name: Key) -> Value? {
    get { values.withLock { $0[name] } }
    set {
      values.withLock { values in
        if values.count >= limit { values.removeAll() }
        values[name] = newValue
      }
    }
  }
}
