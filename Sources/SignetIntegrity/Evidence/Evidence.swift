public import SignetJSON
import SignetText

/// One thing that speaks for tampering, or that is good to know, with how much it weighs and why.
public struct Evidence: Sendable, Hashable, CustomStringConvertible {
  /// What was found.
  public let finding: Finding
  /// How much it speaks for tampering, 0 to 1.
  public let weight: Double
  /// What was seen, in a sentence without a full stop; never a secret.
  ///
  /// Parts of it may come from outside: names of files, threads and programs, bounded and made harmless to show.
  public let explanation: String

  /// The longest explanation, in characters.
  public static let explanationLimit = 300

  /// Evidence.
  ///
  /// - Parameters:
  ///   - finding: What was found.
  ///   - explanation: What was seen. What is invisible is shown as `?`, and more than ``explanationLimit`` is cut.
  public init(_ finding: Finding, _ explanation: String) {
    self.init(finding, weight: finding.weight, explanation)
  }

  init(_ finding: Finding, weight: Double, _ explanation: String) {
    self.finding = finding
    self.weight = Finding.bounded(weight)
    self.explanation = Self.harmless(explanation)
  }

  /// What kind of evidence it is.
  public var category: EvidenceCategory { finding.category }

  /// The name, the weight and the explanation.
  public var description: String { "\(finding.name) (\(Self.text(weight))): \(explanation)" }

  /// As members of a report: `finding`, `category`, `weight` and `explanation`.
  public var json: JSONObject {
    [
      "finding": .string(finding.name), "category": .string(category.rawValue), "weight": .number(weight),
      "explanation": .string(explanation),
    ]
  }

  /// Two digits behind the point at most, so that 0.1 + 0.2 is 0.3 for people.
  static func text(_ score: Double) -> String {
    let hundredths = Int((score * 100).rounded())
    if hundredths % 100 == 0 { return "\(hundredths / 100)" }
    let digits = hundredths % 10 == 0 ? "\(hundredths % 100 / 10)" : "\(hundredths % 100 + 100)".dropFirst()
    return "\(hundredths / 100).\(digits)"
  }

  /// Names of files and threads are chosen by whoever attacks: they must not write over a terminal or fill a log.
  private static func harmless(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(explanationLimit).map { $0.isInvisible ? "?" : $0 }))
  }
}
