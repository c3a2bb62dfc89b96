import SignetSQL

/// A position in a log of several lanes, each of which one connection writes in order.
///
/// Entries of different lanes can become visible in another order than that of their numbers. A position per lane ensures
/// that a reader misses no entry.
package struct LogCursor: Hashable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
  /// The last known number of each lane; a missing lane is at 0.
  package private(set) var last: [Int64: Int64] = [:]

  /// Makes the position before all entries.
  package init() {}

  /// Makes a position in a log with one lane.
  package init(_ number: Int64) { last[0] = number }

  /// Makes a position in a log with one lane, for literals in calls.
  package init(integerLiteral number: Int64) { self.init(number) }

  /// Parses a ``description``, or a number, which is a position in lane 0.
  package init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= 4_096 else { return nil }
    for part in parts {
      let numbers = part.split(separator: ":", omittingEmptySubsequences: false).map { digits in
        digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(digits) : nil
      }
      let (lane, number): (Int64?, Int64?) =
        numbers.count == 1 ? (0, numbers[0]) : (numbers[0], numbers.last ?? nil)
      guard (1...2).contains(numbers.count), let lane, let number, lane >= 0, number >= 0, last[lane] == nil
      else { return nil }
      last[lane] = number
    }
  }

  /// `lane:number`, separated by commas; only a number if lane 0 is the only one, as with SQLite.
  package var description: String {
    if last.keys.allSatisfy({ $0 == 0 }) { return String(last[0] ?? 0) }
    return last.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
  }

  /// The last known number of a lane.
  subscript(lane: Int64) -> Int64 { last[lane] ?? 0 }

  /// Advances to an entry.
  mutating func advance(to number: Int64, in lane: Int64) { last[lane] = max(self[lane], number) }

  /// Returns the position after entries of the audit log that follow this one.
  package func advanced(past entries: [AuditEntry]) -> LogCursor {
    entries.reduce(into: self) { $0.advance(to: $1.number, in: $1.chain) }
  }

  /// Advances each lane to the later of two positions.
  package mutating func advance(to other: LogCursor) {
    for (lane, number) in other.last { advance(to: number, in: lane) }
  }
}
