/// One row of the table: what was measured, beside what it is compared with.
struct Measurement: Sendable {
  /// What the row asks for.
  enum Goal: Sendable {
    /// The rate is at least this part of the other one's.
    case ratioAtLeast(Double)
    /// The rate is above the other one's.
    case ahead
    /// The value is at least this.
    case rateAtLeast(Double)
    /// The value is less than this.
    case valueBelow(Double)
    /// Nothing: the row explains others.
    case none
  }

  let name: String
  let value: Double
  let unit: String
  /// What it is compared with, and its value; empty for nothing.
  var comparedWith = ""
  /// The value in the terms of the other one: above 1 is better.
  var ratio: Double?
  var goal = Goal.none

  /// Whether the goal is missed; a row without a goal misses none.
  var isMissed: Bool {
    switch goal {
    case .ratioAtLeast(let least): (ratio ?? 0) < least
    case .ahead: (ratio ?? 0) <= 1
    case .rateAtLeast(let least): value < least
    case .valueBelow(let limit): value >= limit
    case .none: false
    }
  }

  /// The goal in words.
  var goalText: String {
    switch goal {
    case .ratioAtLeast(let least): "ratio >= \(least.formatted(digits: 2))"
    case .ahead: "ratio > 1"
    case .rateAtLeast(let least): ">= \(least.formatted(digits: 0)) \(unit)"
    case .valueBelow(let limit): "< \(limit.formatted(digits: 0)) \(unit)"
    case .none: ""
    }
  }
}
