import Synchronization

/// A cache for a token with a limited lifetime.
///
/// Concurrent callers may each create a token; the last one is kept.
final class BearerToken: Sendable {
  private struct Kept {
    var text: String
    var until: Int64
  }

  private let kept = Mutex<Kept?>(nil)

  /// Returns the cached token if it is valid at `now`.
  func current(at now: Int64) -> String? {
    kept.withLock { $0.flatMap { now < $0.until ? $0.text : nil } }
  }

  func keep(_ text: String, until time: Int64) { kept.withLock { $0 = Kept(text: text, until: time) } }

  /// Removes a rejected token, unless it has already been replaced.
  func forget(_ text: String) {
    kept.withLock { if $0?.text == text { $0 = nil } }
  }
}
