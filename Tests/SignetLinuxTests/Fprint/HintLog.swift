import SignetVault
import Synchronization

/// The hints of a match so far; a test can wait for the sensor to be on.
final class HintLog: Sendable {
  private let kept = Mutex<[BiometricHint]>([])
  private let stream: AsyncStream<BiometricHint>
  private let continuation: AsyncStream<BiometricHint>.Continuation
  private let reaction: @Sendable (BiometricHint) -> Void

  /// Calls a reaction for each hint, on the thread of the match.
  init(_ reaction: @escaping @Sendable (BiometricHint) -> Void = { _ in }) {
    self.reaction = reaction
    (stream, continuation) = AsyncStream<BiometricHint>.makeStream()
  }

  /// The function for a match's hints.
  var record: @Sendable (BiometricHint) -> Void {
    { [self] hint in
      kept.withLock { $0.append(hint) }
      continuation.yield(hint)
      reaction(hint)
    }
  }

  /// The hints so far.
  var hints: [BiometricHint] { kept.withLock { $0 } }

  /// Returns the next hint.
  func next() async -> BiometricHint? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next()
  }
}
