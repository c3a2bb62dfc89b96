public import SignetCrypto

/// A number of 2 to 6 digits that a relying party displays and the user types on the device.
///
/// It proves that the user who decides sees the relying party's display. The user types it instead of confirming a
/// comparison, because inattentive users confirm any comparison (NIST SP 800-63B-4 section 3.1.3).
public struct MatchingNumber: Hashable, Sendable {
  /// The allowed numbers of digits.
  public static let digitCounts = 2...6

  /// The digits as text: leading zeros count.
  public let digits: String

  /// Validates a number.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` unless the text is 2 to 6 digits.
  public init(_ digits: String) throws(WireFailure) {
    guard Self.digitCounts.contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { throw .invalid(member: "number", reason: "must have 2 to 6 digits") }
    self.digits = digits
  }

  /// Creates a uniformly random number.
  ///
  /// - Parameters:
  ///   - count: The number of digits, 2 to 6.
  ///   - source: The source of randomness.
  public init(digitCount count: Int, random source: some RandomSource) {
    precondition(Self.digitCounts.contains(count), "a number has 2 to 6 digits")
    // 250 is the largest multiple of 10 in a byte's range: accepting larger bytes would make some digits more likely.
    var text = ""
    while text.utf8.count < count {
      for byte in source.bytes(count) where byte < 250 && text.utf8.count < count {
        text.append(String(byte % 10))
      }
    }
    digits = text
  }

  /// Compares in constant time.
  public func isSame(as other: MatchingNumber) -> Bool {
    constantTimeEqual(Array(digits.utf8), Array(other.digits.utf8))
  }
}
