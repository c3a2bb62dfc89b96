public import SignetJSON
import SignetSystem

/// One sign of tampering, or a fact for information, with its weight and an explanation.
public struct Evidence: Sendable, Hashable, CustomStringConvertible {
  /// The finding.
  public let finding: Finding
  /// The strength of the sign, 0 to 1.
  public let weight: Double
  /// The observation, in a sentence without a full stop; never a secret.
  ///
  /// It can contain external text, such as names of files, threads and programs: its length is limited and it is safe to
  /// show.
  public let explanation: String

  /// The maximum length of an explanation, in characters.
  public static let explanationLimit = 300

  /// Creates evidence.
  ///
  /// - Parameters:
  ///   - finding: The finding.
  ///   - explanation: The observation. Invisible characters become `?`, and the text is cut to ``explanationLimit``.
  public init(_ finding: Finding, _ explanation: String) {
    self.init(finding, weight: finding.weight, explanation)
  }

  init(_ finding: Finding, weight: Double, _ explanation: String) {
    self.finding = finding
    self.weight = Finding.bounded(weight)
    self.explanation = Self.sanitised(explanation)
  }

  /// The category of the finding.
  public var category: EvidenceCategory { finding.category }

  /// The name, the weight and the explanation.
  public var description: String { "\(finding.name) (\(Self.text(weight))): \(explanation)" }

  /// The members of a report: `finding`, `category`, `weight` and `explanation`.
  public var json: JSONObject {
    [
      "finding": .string(finding.name), "category": .string(category.rawValue), "weight": .number(weight),
      "explanation": .string(explanation),
    ]
  }

  /// Formats a score with at most two decimals, so that 0.1 + 0.2 is shown as 0.3.
  static func text(_ score: Double) -> String {
    let hundredths = Int((score * 100).rounded())
    if hundredths % 100 == 0 { return "\(hundredths / 100)" }
    let digits = hundredths % 10 == 0 ? "\(hundredths % 100 / 10)" : "\(hundredths % 100 + 100)".dropFirst()
    return "\(hundredths / 100).\(digits)"
  }

  /// Removes invisible characters and limits the length.
  ///
  /// An attacker can choose names of files and threads: they must not control a terminal or fill a log.
  private static func sanitised(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(explanationLimit).map { $0.isInvisible ? "?" : $0 }))
  }
}

/// The kind of tampering, or of environment, that evidence indicates.
public enum EvidenceCategory: String, Sendable, Hashable, CaseIterable {
  /// Another process controls this one (ptrace).
  case debugger
  /// A toolkit, such as Frida, runs its code in this process.
  case instrumentation
  /// A security-relevant function runs foreign code.
  case hook
  /// A library is loaded that the program did not request.
  case library
  /// More privileges than an app needs, on this system or in this process.
  case root
  /// Users other than the system's can replace files that all programs rely on.
  case writableSystem
  /// A virtual machine, an emulator or a container.
  case emulator
  /// The program differs from the released one.
  case changedBinary
  /// An environment variable changes the behaviour of libraries without the program's knowledge.
  case environment
  /// The screen has no lock.
  case screenLock
  /// A crash can write secrets to a file.
  case coreDumps
  /// A jailbroken or modified phone.
  case jailbreak
  /// A guard has no result: it failed, crashed or exceeded its limit.
  case guardFailure
}
