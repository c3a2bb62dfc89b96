public import SignetCrypto

/// A number that a relying party shows and the user types on the device: 2 to 6 digits.
///
/// It proves that who decides sees what the relying party shows. It is carried from there to here, not compared, because a
/// comparison is answered with yes by who is not looking (NIST SP 800-63B-4 section 3.1.3).
public struct MatchingNumber: Hashable, Sendable {
  /// How many digits there may be.
  public static let digitCounts = 2...6

  /// The digits, as a text: leading zeros count.
  public let digits: String

  /// Checks a number.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for anything but 2 to 6 digits.
  public init(_ digits: String) throws(WireFailure) {
    guard Self.digitCounts.contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { throw .invalid(member: "number", reason: "has 2 to 6 digits") }
    self.digits = digits
  }

  /// Makes a random number.
  ///
  /// - Parameters:
  ///   - count: How many digits, 2 to 6.
  ///   - source: Where randomness is from.
  public init(digitCount count: Int, random source: some RandomSource) {
    precondition(Self.digitCounts.contains(count), "a number has 2 to 6 digits")
    // 250 is the largest multiple of 10 in a byte's range: what is above would make some digits more likely.
    var text = ""
    while text.utf8.count < count {
      for byte in source.bytes(count) where byte < 250 && text.utf8.count < count {
        text.append(String(byte % 10))
      }
    }
    digits = text
  }

  /// Compares in a time that does not tell where the difference is.
  public func isSame(as other: MatchingNumber) -> Bool {
    constantTimeEqual(Array(digits.utf8), Array(other.digits.utf8))
  }
}
