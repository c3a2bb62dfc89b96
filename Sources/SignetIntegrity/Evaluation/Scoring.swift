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
