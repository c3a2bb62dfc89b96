public import SignetText

/// A failure that knows which words of what it says are this program's own.
///
/// What any other says counts as somebody else's as a whole: it may have their words in it.
public protocol ShownFailure: Error {
  /// What happened and what to do, without a secret.
  var message: TerminalText { get }
}

extension TerminalText {
  /// What a failure says.
  ///
  /// - Parameters:
  ///   - failure: Any; of a ``ShownFailure`` its message.
  ///   - limit: The most characters.
  public init(of failure: any Error, limit: Int) {
    self =
      if let shown = failure as? any ShownFailure {
        shown.message.limited(to: limit)
      } else {
        TerminalText(String(describing: failure), limit: limit)
      }
  }
}
