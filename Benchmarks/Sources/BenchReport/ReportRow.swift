import Foundation

/// One row of the table: a measurement, with its comparison.
package struct ReportRow: Sendable {
  /// The goal of a row.
  package enum Goal: Sendable {
    /// The rate is at least this fraction of the other rate.
    case ratioAtLeast(Double)
    /// The rate is above the other rate.
    case ahead
    /// The value is at least this.
    case rateAtLeast(Double)
    /// The value is less than this.
    case valueBelow(Double)

    /// The number to reach.
    package var number: Double {
      switch self {
      case .ratioAtLeast(let number), .rateAtLeast(let number), .valueBelow(let number): number
      case .ahead: 1
      }
    }

    /// The compared figure of the row, and the comparison.
    package var comparison: String {
      switch self {
      case .ratioAtLeast: "ratio at least"
      case .ahead: "ratio above"
      case .rateAtLeast: "value at least"
      case .valueBelow: "value below"
      }
    }
  }

  /// The name, unique and equal in each run: it contains no measured figure.
  package let name: String
  package let value: Double
  package let unit: String
  /// The name and value of the comparison; empty for none.
  package var comparedWith: String
  /// The value relative to the other one: above 1 is better.
  package var ratio: Double?
  /// The goal; `nil` for a row that only explains others.
  package var goal: Goal?
  /// Further explanations.
  package var notes: String

  package init(
    name: String, value: Double, unit: String, comparedWith: String = "", ratio: Double? = nil,
    goal: Goal? = nil, notes: String = ""
  ) {
    (self.name, self.value, self.unit, self.comparedWith) = (name, value, unit, comparedWith)
    (self.ratio, self.goal, self.notes) = (ratio, goal, notes)
  }

  /// Indicates whether the goal is missed; false without a goal.
  package var isMissed: Bool {
    switch goal {
    case .ratioAtLeast(let least): (ratio ?? 0) < least
    case .ahead: (ratio ?? 0) <= 1
    case .rateAtLeast(let least): value < least
    case .valueBelow(let limit): value >= limit
    case nil: false
    }
  }

  /// The goal as text.
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
  /// Returns a decimal number with this many digits after the point.
  package func formatted(digits: Int) -> String { String(format: "%.\(digits)f", self) }

  /// Returns a number with about three significant digits.
  package func formatted() -> String {
    switch abs(self) {
    case 100...: formatted(digits: 0)
    case 10..<100: formatted(digits: 1)
    default: formatted(digits: 2)
    }
  }
}
