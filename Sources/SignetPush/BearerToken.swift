import Synchronization

/// A cache for a token with a limited lifetime.
///
/// Concurrent callers may each create a token; the last one is kept.
final class BearerToken: Sendable {
  private struct CachedToken {
    var text: String
    var until: Int64
  }

  private let cached = Mutex<CachedToken?>(nil)

  /// Returns the cached token if it is valid at `now`.
  func current(at now: Int64) -> String? {
    cached.withLock { $0.flatMap { now < $0.until ? $0.text : nil } }
  }

  func store(_ text: String, until time: Int64) {
    cached.withLock { $0 = CachedToken(text: text, until: time) }
  }

  /// Removes a rejected token, unless it has already been replaced.
  func invalidate(_ text: String) {
    cached.withLock { if $0?.text == text { $0 = nil } }
  }
}
