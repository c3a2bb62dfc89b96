/// The reason why a command line cannot be run; the program prints it and ends with ``ExitCode/usage``.
///
/// Messages do not repeat values and operands, because they may be secrets typed in the wrong place.
package enum UsageFailure: ShownFailure, Hashable, Sendable, CustomStringConvertible {
  /// There is no such option; the string includes its dashes.
  case unknownOption(String, suggestion: String?)
  /// There is no such command.
  case unknownCommand(String, suggestion: String?)
  /// The group needs one of these commands.
  case missingCommand(choices: [String])
  /// The option needs a value.
  case missingValue(option: String)
  /// The flag was given a value.
  case unexpectedValue(option: String)
  /// The option may be given once only.
  case repeatedOption(String)
  /// The command requires this option.
  case missingOption(String)
  /// The command requires this operand.
  case missingArgument(String)
  /// There are more operands than the command accepts.
  case tooManyArguments(given: Int, maximum: Int)
  /// The value is not one of these words.
  case notAChoice(name: String, choices: [String])
  /// The value is not an integer in the range.
  case notANumber(name: String, range: ClosedRange<Int>)
  /// The value is not a duration in the range, in seconds.
  case notADuration(name: String, range: ClosedRange<Int>)
  /// The options contradict each other, or a value is rejected; the sentence gives the reason.
  case refused(TerminalText)

  /// The error and the correct form.
  package var description: String { message.description }

  /// The description, in which typed words count as foreign text, except names of declared options and operands.
  package var message: TerminalText {
    switch self {
    case .unknownOption(let option, let suggestion):
      "unknown option \(option, limit: 60)\(Self.hint(suggestion))\(ours: option.hasPrefix("--") ? "" : "; write -- before an operand that begins with -")"
    case .unknownCommand(let command, let suggestion):
      "unknown command '\(command, limit: 60)'\(Self.hint(suggestion))"
    case .missingCommand(let choices):
      "a command is missing; use one of: \(ours: choices.joined(separator: ", "))"
    case .missingValue(let option): "\(ours: option) needs a value"
    case .unexpectedValue(let option): "\(ours: option) takes no value"
    case .repeatedOption(let option): "\(ours: option) is given more than once"
    case .missingOption(let option): "\(ours: option) is missing"
    case .missingArgument(let name): "\(ours: name) is missing"
    case .tooManyArguments(let given, let maximum):
      maximum == 0
        ? "no operands are expected, but \(given) \(ours: given == 1 ? "is" : "are") given"
        : "at most \(maximum) \(ours: maximum == 1 ? "operand is" : "operands are") expected, but \(given) are given"
    case .notAChoice(let name, let choices):
      "\(ours: name) must be one of: \(ours: choices.joined(separator: ", "))"
    case .notANumber(let name, let range):
      "\(ours: name) must be a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .notADuration(let name, let range):
      "\(ours: name) must be a duration such as 90s, 15m, 24h or 7d, from \(ours: Duration.text(range.lowerBound)) to \(ours: Duration.text(range.upperBound))"
    case .refused(let sentence): sentence
    }
  }

  private static func hint(_ suggestion: String?) -> TerminalText {
    suggestion.map { "; did you mean \(ours: $0)?" } ?? ""
  }
}

extension Duration {
  /// Seconds in the largest unit that divides them: 900 is `15m`.
  fileprivate static func text(_ seconds: Int) -> String {
    for (unit, letter) in [(86400, "d"), (3600, "h"), (60, "m")] where seconds > 0 && seconds % unit == 0 {
      return "\(seconds / unit)\(letter)"
    }
    return "\(seconds)s"
  }
}
