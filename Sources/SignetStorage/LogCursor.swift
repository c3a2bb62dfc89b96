import SignetSQL

/// A position in a log that several connections write, each its own part of it, in order.
///
/// What comes after a position is what no reader who holds it has seen, though entries become visible in another order than that
/// in which they were numbered over all parts.
public struct LogCursor: Hashable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral {
  /// The last number of each part that is known; parts that are missing begin at 0.
  public private(set) var last: [Int64: Int64] = [:]

  /// The beginning.
  public init() {}

  /// A position in a log with one part.
  public init(_ number: Int64) { last[0] = number }

  /// A position in a log with one part, for literals in calls.
  public init(integerLiteral number: Int64) { self.init(number) }

  /// Reads what ``description`` gives, or a number, which is a position in part 0.
  public init?(_ text: String) {
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

  /// `part:number`, separated by commas; a number alone where there is part 0 only, as with SQLite.
  public var description: String {
    if last.keys.allSatisfy({ $0 == 0 }) { return String(last[0] ?? 0) }
    return last.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
  }

  /// The last number that is known of a part.
  subscript(lane: Int64) -> Int64 { last[lane] ?? 0 }

  /// Goes on to an entry.
  mutating func advance(to number: Int64, in lane: Int64) { last[lane] = max(self[lane], number) }

  /// The position after entries of the audit log that follow this one.
  public func advanced(past entries: [AuditEntry]) -> LogCursor {
    entries.reduce(into: self) { $0.advance(to: $1.number, in: $1.chain) }
  }

  /// Goes on to where either of two positions is.
  public mutating func advance(to other: LogCursor) {
    for (lane, number) in other.last { advance(to: number, in: lane) }
  }
}
