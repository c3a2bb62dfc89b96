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

  /// What findings and categories weigh at the least, by ``hardened(by:)``.
  public internal(set) var leastWeights: [String: Double] = [:]

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

  /// These settings, made harder by others and nowhere milder: what somebody else than the program's author says may be an attacker's.
  ///
  /// The harder reaction, the lower threshold, the sum if one of them wants it, and the greater weight of each finding hold.
  ///
  /// - Parameter others: The other settings.
  /// - Returns: Settings by which no evidence scores less than by these.
  public func hardened(by others: IntegritySettings) -> IntegritySettings {
    var settings = hardened(to: others.reaction)
    settings.threshold = min(threshold, others.threshold)
    if others.scoring == .weightedSum { settings.scoring = .weightedSum }
    for weights in [others.weights, others.leastWeights] {
      settings.leastWeights.merge(weights, uniquingKeysWith: max)
    }
    return settings
  }

  /// The evidence with the weight that it has under these settings.
  package func weighed(_ evidence: Evidence) -> Evidence {
    Evidence(evidence.finding, weight: weight(of: evidence.finding), evidence.explanation)
  }

  /// What a finding weighs under these settings.
  package func weight(of finding: Finding) -> Double {
    let (name, category) = (finding.name, finding.category.rawValue)
    let weight = weights[name] ?? weights[category] ?? finding.weight
    return max(weight, leastWeights[name] ?? 0, leastWeights[category] ?? 0)
  }

  /// The score of what a device has reported, where only categories and weights are known of it; a category counts as a finding does.
  ///
  /// - Parameter found: The categories and the weights that the device has given them.
  /// - Returns: The score under these settings, 0 to 1.
  public func score(ofReported found: [(category: String, weight: Double)]) -> Double {
    scoring.score(found.map { ($0.category, Finding.bounded(weights[$0.category] ?? $0.weight)) })
  }

  /// Says what is wrong with them.
  func check() throws(IntegrityFailure) {
    guard threshold > 0, threshold <= 1 else { throw .thresholdOutOfRange(threshold) }
    for (name, weight) in weights.sorted(by: { $0.key < $1.key }) where !(weight >= 0 && weight <= 1) {
      throw .weightOutOfRange(name: name, weight)
    }
  }
}
