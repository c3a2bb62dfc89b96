public import SignetJSON

/// What all guards found at one moment.
public struct IntegrityReport: Sendable, Hashable {
  /// How the program was built.
  public let flavour: Flavour
  /// How much speaks for tampering, 0 to 1.
  public let score: Double
  /// How the score was made.
  public let scoring: Scoring
  /// The score from which on the program counts as tampered with.
  public let threshold: Double
  /// What follows then.
  public let reaction: Reaction
  /// What was found, in the order of the guards; with a weight of 0 what is only good to know.
  public let evidence: [Evidence]
  /// The names of the guards that were asked.
  public let guards: [String]
  /// How long it took.
  public let duration: Duration

  /// Whether the score reaches the threshold.
  public var isTampered: Bool { score >= threshold }

  /// The evidence that weighs something, the weightiest first.
  public var weighty: [Evidence] {
    evidence.filter { $0.weight > 0 }.sorted { ($1.weight, $0.explanation) < ($0.weight, $1.explanation) }
  }

  /// The guards' own failures: what they would have looked for may be there.
  public var undecided: [Evidence] { evidence.filter { $0.category == .guardFailure } }

  /// What the guards can say together.
  public var verdict: IntegrityVerdict {
    isTampered ? .tampered : undecided.isEmpty ? .untouched : .indeterminate
  }

  /// What was found, the weightiest three, in a sentence without a full stop.
  public var summary: String {
    let reasons = weighty.prefix(3).map(\.explanation).joined(separator: "; ")
    return weighty.count > 3 ? "\(reasons) and \(weighty.count - 3) more" : reasons
  }

  /// What a user is told who is refused something: which evidence there is, and what to do.
  var refusal: String {
    "this program is being tampered with: \(summary); end what does so, and try again "
      + "(signs of tampering \(Evidence.text(score)) of 1)"
  }

  /// The report as an object, for a signed report of the device: `flavour`, `score`, `scoring`, `threshold`, `reaction`, `tampered`,
  /// `verdict`, `guards` and `evidence`.
  public var json: JSONObject {
    [
      "flavour": .string(flavour.rawValue), "score": .number(score), "scoring": .string(scoring.rawValue),
      "threshold": .number(threshold), "reaction": .string(reaction.rawValue), "tampered": .bool(isTampered),
      "verdict": .string(verdict.rawValue),
      "guards": .array(guards.map { .string($0) }), "evidence": .array(evidence.map { .object($0.json) }),
    ]
  }
}

/// What guards can say together.
public enum IntegrityVerdict: String, Sendable, Hashable, CaseIterable {
  /// All of them have looked, and what they found does not reach the threshold.
  case untouched
  /// What they found reaches the threshold.
  case tampered
  /// A guard failed, crashed or took too long, and what the others found does not reach the threshold.
  case indeterminate
}
