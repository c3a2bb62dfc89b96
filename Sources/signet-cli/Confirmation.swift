import Signet
import SignetTerminal

extension Arguments {
  /// Asks for confirmation of a permanent deletion; prints a message if the user declines.
  ///
  /// - Parameter question: The question, which names the effect.
  /// - Returns: True to go on; always true with `--yes`.
  /// - Throws: `CommandFailure` without a terminal.
  func confirmsDeletion(_ question: TerminalText) async throws -> Bool {
    if isSet("yes") { return true }
    let isConfirmed = try await answering(with: "--yes") {
      try await Question.terminal.confirm(question, preset: false)
    }
    if !isConfirmed { errorOutput.print("Nothing was deleted.") }
    return isConfirmed
  }

  /// Asks for confirmation of the use of a key that needs no password.
  ///
  /// - Parameters:
  ///   - question: The question, which names the effect.
  ///   - key: The key.
  ///   - container: The container of the key.
  /// - Returns: True to go on.
  /// - Throws: `CommandFailure` without a terminal.
  func confirmsUse(_ question: TerminalText, of key: Key.Usage, of container: Container) async throws -> Bool
  {
    guard container.protection(of: key).passwordPolicy == nil else { return true }
    if declares("yes"), isSet("yes") { return true }
    return try await answering(with: "--yes") {
      try await Question.terminal.confirm(question, preset: false)
    }
  }

  /// Shows the whole content that a key is about to sign, on standard error, where the prompt follows.
  ///
  /// - Parameters:
  ///   - deed: The operation.
  ///   - content: The content to show and sign.
  ///   - container: The signing container.
  ///   - transaction: Its ID and end; `nil` for a signature on the user's own initiative.
  func announce(
    _ deed: String, _ content: TransactionContent, by container: Container,
    _ transaction: (id: TransactionID, expires: Int64)? = nil
  ) {
    errorOutput.print("You are about to \(deed):")
    errorOutput.print(TransactionText(content, on: errorOutput).body)
    errorOutput.print("  as      \(container.user.text)")
    errorOutput.print("  at      \(container.server.fullForm)")
    guard let transaction else { return }
    errorOutput.print("  id      \(transaction.id.text)")
    errorOutput.print("  expires \(ours: Moment.text(transaction.expires))")
  }
}
