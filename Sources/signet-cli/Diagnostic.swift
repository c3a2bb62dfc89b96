import SignetJSON
import SignetTerminal

struct Diagnostic: Hashable {
  enum Weight: String {
    /// Correct.
    case fine
    /// For information; no action needed.
    case note
    /// Action needed.
    case problem
  }

  /// The subject, in a word or two.
  let subject: TerminalText
  let weight: Weight
  /// The finding in a sentence without a full stop.
  let text: TerminalText
  var advice: TerminalText?

  var json: JSONObject {
    var json: JSONObject = [
      "subject": .string(subject.description), "weight": .string(weight.rawValue),
      "finding": .string(text.description),
    ]
    if let advice { json["advice"] = .string(advice.description) }
    return json
  }

  /// Creates a finding from a failure, whose sentence has the remedy after a semicolon or a colon.
  static func failure(_ subject: TerminalText, _ error: any Error) -> Diagnostic {
    Diagnostic(subject: subject, weight: .problem, text: TerminalText(describing: error, limit: 1000))
  }
}
