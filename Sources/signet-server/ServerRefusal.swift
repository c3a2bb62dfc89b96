import SignetProtocol
import SignetTerminal

/// A server's refusal, to which a command may add information.
struct ServerRefusal: ShownFailure {
  let problem: Problem
  /// The message at the terminal, and the exit code.
  let shown: CommandFailure

  var message: TerminalText { shown.message }

  /// Replaces the names of request members in the message by their options.
  ///
  /// - Parameter options: The options, by the names of the members.
  /// - Returns: The refusal.
  func naming(_ options: KeyValuePairs<String, String>) -> ServerRefusal {
    guard problem.code == .malformed else { return self }
    let detail = options.reduce(problem.detail) { $0.replacing("\"\($1.key)\"", with: $1.value) }
    let renamed = Problem(problem.code, detail, retryAfter: problem.retryAfter)
    return ServerRefusal(problem: renamed, shown: CommandFailure(renamed))
  }
}
