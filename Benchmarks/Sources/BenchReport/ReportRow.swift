import Foundation

/// One row of the table: what was measured, beside what it is compared with.
package struct ReportRow: Sendable {
  /// What the row has to reach.
  package enum Goal: Sendable {
    /// The rate is at least this part of the other one's.
    case ratioAtLeast(Double)
    /// The rate is above the other one's.
    case ahead
    /// The value is at least this.
    case rateAtLeast(Double)
    /// The value is less than this.
    case valueBelow(Double)

    /// The number to be reached.
    package var number: Double {
      switch self {
      case .ratioAtLeast(let number), .rateAtLeast(let number), .valueBelow(let number): number
      case .ahead: 1
      }
    }

    /// What of the row is compared with the number, and how.
    package var comparison: String {
      switch self {
      case .ratioAtLeast: "ratio at least"
      case .ahead: "ratio above"
      case .rateAtLeast: "value at least"
      case .valueBelow: "value below"
      }
    }
  }

  /// The same in each run, and no other row's: it holds nothing that was measured.
  package let name: String
  package let value: Double
  package let unit: String
  /// What it is compared with, and its value; empty for nothing.
  package var comparedWith: String
  /// The value in the terms of the other one: above 1 is better.
  package var ratio: Double?
  /// `nil` where the row explains others.
  package var goal: Goal?
  /// What the name does not say.
  package var notes: String

  package init(
    name: String, value: Double, unit: String, comparedWith: String = "", ratio: Double? = nil,
    goal: Goal? = nil, notes: String = ""
  ) {
    (self.name, self.value, self.unit, self.comparedWith) = (name, value, unit, comparedWith)
    (self.ratio, self.goal, self.notes) = (ratio, goal, notes)
  }

  /// Whether the goal is missed; a row without a goal misses none.
  package var isMissed: Bool {
    switch goal {
    case .ratioAtLeast(let least): (ratio ?? 0) < least
    case .ahead: (ratio ?? 0) <= 1
    case .rateAtLeast(let least): value < least
    case .valueBelow(let limit): value >= limit
    case nil: false
    }
  }

  /// The goal in words.
  var goalText: String {
    switch goal {
    case .ratioAtLeast(let least): "ratio >= \(least.formatted(digits: 2))"
    case .ahead: "ratio > 1"
    case .rateAtLeast(let least): ">= \(least.formatted(digits: 0)) \(unit)"
    case .valueBelow(let limit): "< \(limit.formatted(digits: 0)) \(unit)"
    case nil: ""
    }
  }
}

extension Double {
  /// A decimal number with this many digits after the point.
  package func formatted(digits: Int) -> String { String(format: "%.\(digits)f", self) }

  /// A number with about three digits that count.
  package func formatted() -> String {
    switch abs(self) {
    case 100...: formatted(digits: 0)
    case 10..<100: formatted(digits: 1)
    default: formatted(digits: 2)
    }
  }
}
