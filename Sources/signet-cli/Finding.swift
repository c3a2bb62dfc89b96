import SignetJSON
import SignetTerminal

/// What the doctor found out about one thing.
struct Finding: Hashable {
  /// How much it matters.
  enum Weight: String {
    /// As it should be.
    case fine
    /// Good to know; nothing needs doing.
    case note
    /// Something needs doing.
    case problem
  }

  /// What it is about, in a word or two.
  let subject: TerminalText
  let weight: Weight
  /// What was found: a sentence without a full stop.
  let text: TerminalText
  /// What to do, if anything.
  var advice: TerminalText?

  /// What `--json` prints of it.
  var json: JSONObject {
    var json: JSONObject = [
      "subject": .string(subject.description), "weight": .string(weight.rawValue),
      "finding": .string(text.description),
    ]
    if let advice { json["advice"] = .string(advice.description) }
    return json
  }

  /// A failure, whose sentence says what to do behind a semicolon or a colon.
  static func failure(_ subject: TerminalText, _ error: any Error) -> Finding {
    Finding(subject: subject, weight: .problem, text: TerminalText(saidBy: error, limit: 1000))
  }
}
