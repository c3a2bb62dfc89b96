package import SignetSystem

/// A failure that distinguishes its own trusted words from foreign text in its message.
///
/// The whole message of any other failure counts as foreign text, because it may contain some.
package protocol ShownFailure: Error {
  /// The failure and the remedy, without a secret.
  var message: TerminalText { get }
}

extension TerminalText {
  /// Creates the message of a failure.
  ///
  /// - Parameters:
  ///   - failure: Any failure; a ``ShownFailure`` supplies its message.
  ///   - limit: The maximum number of characters.
  package init(of failure: any Error, limit: Int) {
    self =
      if let shown = failure as? any ShownFailure {
        shown.message.limited(to: limit)
      } else {
        TerminalText(String(describing: failure), limit: limit)
      }
  }
}
