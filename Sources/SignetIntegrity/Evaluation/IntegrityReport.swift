public import SignetJSON

/// The findings of all guards in one evaluation.
public struct IntegrityReport: Sendable, Hashable {
  /// The build flavour of the program.
  public let flavour: Flavour
  /// The tamper score, 0 to 1.
  public let score: Double
  /// The scoring method.
  public let scoring: Scoring
  /// The lowest score that counts as tampering.
  public let threshold: Double
  /// The reaction to tampering.
  public let reaction: Reaction
  /// The evidence, in the order of the guards; a weight of 0 is for information only.
  public let evidence: [Evidence]
  /// The names of the guards that ran.
  public let guards: [String]
  /// The duration of the evaluation.
  public let duration: Duration

  /// True if the score reaches the threshold.
  public var isTampered: Bool { score >= threshold }

  /// The evidence with a weight above 0, the heaviest first.
  public var weighty: [Evidence] {
    evidence.filter { $0.weight > 0 }.sorted { ($1.weight, $0.explanation) < ($0.weight, $1.explanation) }
  }

  /// The guards' own failures: they may hide tampering.
  public var undecided: [Evidence] { evidence.filter { $0.category == .guardFailure } }

  /// The combined result of all guards.
  public var verdict: IntegrityVerdict {
    isTampered ? .tampered : undecided.isEmpty ? .untouched : .indeterminate
  }

  /// The three heaviest findings, in a sentence without a full stop.
  public var summary: String {
    let reasons = weighty.prefix(3).map(\.explanation).joined(separator: "; ")
    return weighty.count > 3 ? "\(reasons) and \(weighty.count - 3) more" : reasons
  }

  /// The message of a refusal: the evidence and the remedy.
  var refusal: String {
    "this program is being tampered with: \(summary); remove the cause, and try again "
      + "(tamper score \(Evidence.text(score)) of 1)"
  }

  /// The report as an object, for a device's signed report.
  ///
  /// Its members are `flavour`, `score`, `scoring`, `threshold`, `reaction`, `tampered`, `verdict`, `guards` and `evidence`.
  public var json: JSONObject {
    [
      "flavour": .string(flavour.rawValue), "score": .number(score), "scoring": .string(scoring.rawValue),
      "threshold": .number(threshold), "reaction": .string(reaction.rawValue), "tampered": .bool(isTampered),
      "verdict": .string(verdict.rawValue),
      "guards": .array(guards.map { .string($0) }), "evidence": .array(evidence.map { .object($0.json) }),
    ]
  }
}

/// The combined result of all guards.
public enum IntegrityVerdict: String, Sendable, Hashable, CaseIterable {
  /// All guards ran, and the score is below the threshold.
  case untouched
  /// The score reaches the threshold.
  case tampered
  /// A guard failed, crashed or exceeded its limit, and the score is below the threshold.
  case indeterminate
}
