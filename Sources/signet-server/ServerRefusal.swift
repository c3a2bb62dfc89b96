import SignetTerminal
import SignetWire

/// What a server has refused: a command may know more about it than the answer says.
struct ServerRefusal: ShownFailure {
  /// What the server has answered.
  let problem: Problem
  /// What the person at the terminal is told, and the exit code.
  let shown: CommandFailure

  var message: TerminalText { shown.message }

  /// The same, where it names members of the request, with the options by which they were given.
  ///
  /// - Parameter options: The options, by the names of the members.
  /// - Returns: The refusal.
  func naming(_ options: KeyValuePairs<String, String>) -> ServerRefusal {
    guard problem.code == .malformed else { return self }
    let detail = options.reduce(problem.detail) { $0.replacing("\"\($1.key)\"", with: $1.value) }
    let named = Problem(problem.code, detail, retryAfter: problem.retryAfter)
    return ServerRefusal(problem: named, shown: CommandFailure(named))
  }
}
