import Synchronization

/// A token that is good for a while, made when it is needed and used until it is old.
///
/// Callers at the same time may each make one; the last stays.
final class BearerToken: Sendable {
  private struct Kept {
    var text: String
    var until: Int64
  }

  private let kept = Mutex<Kept?>(nil)

  /// The token that is kept, where it is good at `now`.
  func current(at now: Int64) -> String? {
    kept.withLock { $0.flatMap { now < $0.until ? $0.text : nil } }
  }

  func keep(_ text: String, until time: Int64) { kept.withLock { $0 = Kept(text: text, until: time) } }

  /// Forgets a token that was refused; one that was made meanwhile stays.
  func forget(_ text: String) {
    kept.withLock { if $0?.text == text { $0 = nil } }
  }
}
