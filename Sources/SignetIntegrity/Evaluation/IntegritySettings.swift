/// The scoring of tamper evidence, and the reaction to it.
public struct IntegritySettings: Sendable, Hashable {
  /// The method that combines the weights of all evidence into one score.
  public var scoring: Scoring
  /// The lowest score that counts as tampering, above 0 and up to 1.
  public var threshold: Double
  /// The reaction to tampering.
  public var reaction: Reaction
  /// Weights that replace the findings' own, 0 to 1, by the name of a finding (`emulator.hypervisor`) or of a category (`emulator`).
  ///
  /// The weight of a finding goes before that of its category.
  public var weights: [String: Double]

  /// Minimum weights of findings and categories, set by ``hardened(by:)``.
  public internal(set) var leastWeights: [String: Double] = [:]

  /// Creates settings; ``Integrity`` checks threshold and weights.
  ///
  /// - Parameters:
  ///   - scoring: The method that combines the weights of all evidence into one score.
  ///   - threshold: The lowest score that counts as tampering.
  ///   - reaction: The reaction to tampering.
  ///   - weights: Weights that replace the findings' own.
  public init(
    scoring: Scoring = .maximum, threshold: Double = 0.8, reaction: Reaction, weights: [String: Double] = [:]
  ) {
    self.scoring = scoring
    self.threshold = threshold
    self.reaction = reaction
    self.weights = weights
  }

  /// The default settings of a flavour: a debug build reports tampering, a release refuses to go on.
  public static func standard(for flavour: Flavour) -> IntegritySettings {
    IntegritySettings(reaction: flavour == .debug ? .report : .refuse)
  }

  /// These settings with the stricter of two reactions, so that input from outside can harden them, but not soften them.
  public func hardened(to reaction: Reaction) -> IntegritySettings {
    var settings = self
    settings.reaction = max(self.reaction, reaction)
    return settings
  }

  /// These settings, hardened by others that do not come from the program's author, and which an attacker may have written.
  ///
  /// The result has the stricter reaction, the lower threshold, the weighted sum if either has it, and the greater weight of each finding.
  ///
  /// - Parameter others: The other settings.
  /// - Returns: Settings under which no evidence scores less than under these.
  public func hardened(by others: IntegritySettings) -> IntegritySettings {
    var settings = hardened(to: others.reaction)
    settings.threshold = min(threshold, others.threshold)
    if others.scoring == .weightedSum { settings.scoring = .weightedSum }
    for weights in [others.weights, others.leastWeights] {
      settings.leastWeights.merge(weights, uniquingKeysWith: max)
    }
    return settings
  }

  /// The evidence with its weight under these settings.
  package func weighed(_ evidence: Evidence) -> Evidence {
    Evidence(evidence.finding, weight: weight(of: evidence.finding), evidence.explanation)
  }

  package func weight(of finding: Finding) -> Double {
    let (name, category) = (finding.name, finding.category.rawValue)
    let weight = weights[name] ?? weights[category] ?? finding.weight
    return max(weight, leastWeights[name] ?? 0, leastWeights[category] ?? 0)
  }

  /// The score of a device's report, of which only categories and weights are known; each category counts as one finding.
  ///
  /// - Parameter found: The categories with the weights from the report.
  /// - Returns: The score under these settings, 0 to 1.
  public func score(ofReported found: [(category: String, weight: Double)]) -> Double {
    scoring.score(found.map { ($0.category, Finding.bounded(weights[$0.category] ?? $0.weight)) })
  }

  /// Checks that the threshold and all weights are in their ranges.
  func check() throws(IntegrityFailure) {
    guard threshold > 0, threshold <= 1 else { throw .thresholdOutOfRange(threshold) }
    for (name, weight) in weights.sorted(by: { $0.key < $1.key }) where !(weight >= 0 && weight <= 1) {
      throw .weightOutOfRange(name: name, weight)
    }
  }
}

/// The method that combines evidence into one score between 0 and 1.
public enum Scoring: String, Sendable, Hashable, CaseIterable {
  /// The highest weight: a Ping `deviceTampering` policy compares it with its threshold.
  case maximum
  /// The sum of the weights, at most 1; each finding counts once, with its highest weight.
  case weightedSum = "weighted-sum"

  /// Returns the score of the evidence; 0 if there is none.
  public func score(_ evidence: [Evidence]) -> Double {
    score(evidence.map { ($0.finding.name, $0.weight) })
  }

  func score(_ found: [(name: String, weight: Double)]) -> Double {
    switch self {
    case .maximum: return found.map(\.weight).max() ?? 0
    case .weightedSum:
      var weights: [String: Double] = [:]
      for piece in found { weights[piece.name] = max(weights[piece.name] ?? 0, piece.weight) }
      // A fixed order makes the rounding of the sum reproducible.
      return min(1, weights.values.sorted().reduce(0, +))
    }
  }
}

/// The reaction to a score that reaches the threshold, from the mildest to the strictest.
public enum Reaction: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Report it and go on.
  case report
  /// Refuse operations that need a key.
  case refuse
  /// Refuse, and lock open data.
  case lock
  /// Refuse, lock, and let the app wipe its other stored data.
  case wipeSession = "wipe-session"
  /// Report the cause and end the program.
  case terminate

  /// True if `left` is milder.
  public static func < (left: Reaction, right: Reaction) -> Bool { left.severity < right.severity }

  private var severity: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The build flavour of a program.
///
/// A *debug* build has only the guards that do not disturb developers, and reports; a *release* has all guards and refuses.
/// The flavour is fixed at build time: nothing at run time turns a release into a debug build. Reports state it, and a
/// server can refuse `debug`.
public enum Flavour: String, Sendable, Hashable, CaseIterable {
  /// A development build: it does not look for debuggers, hooks, emulators and changed programs.
  case debug
  /// A production build.
  case release

  /// The flavour of this program.
  public static var current: Flavour {
    #if DEBUG
      .debug
    #else
      .release
    #endif
  }
}
