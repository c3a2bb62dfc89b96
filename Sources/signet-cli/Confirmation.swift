import Signet
import SignetTerminal

extension Arguments {
  /// Asks before something is deleted for good, and says so where it is not.
  ///
  /// - Parameter question: What would be done.
  /// - Returns: Whether to go on: yes with `--yes`.
  /// - Throws: `CommandFailure` where there is no terminal to ask at.
  func confirmsDeletion(_ question: TerminalText) async throws -> Bool {
    if isSet("yes") { return true }
    let isSure = try await answering(with: "--yes") {
      try await Question.terminal.confirm(question, preset: false)
    }
    if !isSure { errorOutput.print("Nothing was deleted.") }
    return isSure
  }

  /// Asks before a key is used, where no password will be asked for.
  ///
  /// - Parameters:
  ///   - question: What would be done.
  ///   - key: Which key.
  ///   - container: Whose key.
  /// - Returns: Whether to go on.
  /// - Throws: `CommandFailure` where there is no terminal to ask at.
  func confirmsUse(_ question: TerminalText, of key: Key.Usage, of container: Container) async throws -> Bool
  {
    guard container.protection(of: key).passwordPolicy == nil else { return true }
    if declares("yes"), isSet("yes") { return true }
    return try await answering(with: "--yes") {
      try await Question.terminal.confirm(question, preset: false)
    }
  }

  /// Shows what a key is about to be used for, all of it, on standard error, where the prompt follows.
  ///
  /// - Parameters:
  ///   - deed: What is about to be done.
  ///   - content: What is shown and signed.
  ///   - container: Who does it.
  ///   - transaction: Its id and when it ends; `nil` for one's own wish.
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
