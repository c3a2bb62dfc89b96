/// How pieces of evidence become one score between 0 and 1.
public enum Scoring: String, Sendable, Hashable, CaseIterable {
  /// The weightiest piece: what a Ping `deviceTampering` policy compares with its threshold.
  case maximum
  /// The weights of all findings together, 1 at the most. A finding counts once, however often it was made, by its weightiest piece.
  case weightedSum = "weighted-sum"

  /// The score of some evidence; 0 where there is none.
  public func score(_ evidence: [Evidence]) -> Double {
    score(evidence.map { ($0.finding.name, $0.weight) })
  }

  func score(_ found: [(name: String, weight: Double)]) -> Double {
    switch self {
    case .maximum: return found.map(\.weight).max() ?? 0
    case .weightedSum:
      var weights: [String: Double] = [:]
      for piece in found { weights[piece.name] = max(weights[piece.name] ?? 0, piece.weight) }
      // Sorted, so that the rounding of one report is that of the next.
      return min(1, weights.values.sorted().reduce(0, +))
    }
  }
}
