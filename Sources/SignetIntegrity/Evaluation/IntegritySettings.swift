/// How evidence is weighed and what follows.
public struct IntegritySettings: Sendable, Hashable {
  /// How pieces of evidence become one score.
  public var scoring: Scoring
  /// The score from which on the program counts as tampered with, above 0 and up to 1.
  public var threshold: Double
  /// What follows then.
  public var reaction: Reaction
  /// Other weights than the findings' own, 0 to 1, by the name of a finding (`emulator.hypervisor`) or of a category (`emulator`); the
  /// finding's wins.
  public var weights: [String: Double]

  /// Settings.
  ///
  /// - Parameters:
  ///   - scoring: How pieces of evidence become one score.
  ///   - threshold: The score from which on the program counts as tampered with.
  ///   - reaction: What follows then.
  ///   - weights: Other weights than the findings' own.
  public init(
    scoring: Scoring = .maximum, threshold: Double = 0.8, reaction: Reaction, weights: [String: Double] = [:]
  ) {
    self.scoring = scoring
    self.threshold = threshold
    self.reaction = reaction
    self.weights = weights
  }

  /// The settings of a flavour: a debug program reports, a release refuses.
  public static func standard(for flavour: Flavour) -> IntegritySettings {
    IntegritySettings(reaction: flavour == .debug ? .report : .refuse)
  }

  /// These settings with another reaction, unless it is a milder one: what comes from outside may harden, and not soften.
  public func hardened(to reaction: Reaction) -> IntegritySettings {
    var settings = self
    settings.reaction = max(self.reaction, reaction)
    return settings
  }

  /// The evidence with the weight that it has under these settings.
  func weighed(_ evidence: Evidence) -> Evidence {
    guard let weight = weights[evidence.finding.name] ?? weights[evidence.category.rawValue] else {
      return evidence
    }
    return Evidence(evidence.finding, weight: weight, evidence.explanation)
  }

  /// Says what is wrong with them.
  func check() throws(IntegrityFailure) {
    guard threshold > 0, threshold <= 1 else { throw .thresholdOutOfRange(threshold) }
    for (name, weight) in weights.sorted(by: { $0.key < $1.key }) where !(weight >= 0 && weight <= 1) {
      throw .weightOutOfRange(name: name, weight)
    }
  }
}
