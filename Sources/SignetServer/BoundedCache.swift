import Synchronization

/// A cache of values that were valid when last read.
///
/// A write that relies on one must check that it is still valid.
final class BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let limit: Int
  private let values = Mutex<[Key: Value]>([:])

  /// Creates a cache; when it holds `limit` values, the next write first removes all of them.
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
