/// Frequently used PINs, which an attacker would try first.
///
/// The list contains only PINs that lead the published frequency lists of four and six digits and that none of the rules below rejects.
enum CommonPINs {
  /// Returns whether a PIN is easy to guess.
  ///
  /// - Parameter digits: ASCII digits.
  /// - Returns: True if the PIN must be rejected.
  static func contains(_ digits: [UInt8]) -> Bool {
    isStepped(digits) || isRepeated(digits) || isDoubled(digits) || isMirroredRun(digits) || isYear(digits)
      || list.contains { $0.utf8.elementsEqual(digits) }
  }

  /// Indicates the same step modulo 10 from each digit to the next: 000000, 123456, 987654, 135791.
  private static func isStepped(_ digits: [UInt8]) -> Bool {
    guard digits.count > 1 else { return true }
    let step = (digits[1] + 10 - digits[0]) % 10
    return (1..<digits.count).allSatisfy { (digits[$0] + 10 - digits[$0 - 1]) % 10 == step }
  }

  /// Indicates a repeated group of digits: 121212, 123123, 4545.
  private static func isRepeated(_ digits: [UInt8]) -> Bool {
    (1...max(1, digits.count / 2)).contains { period in
      digits.count % period == 0 && digits.indices.allSatisfy { digits[$0] == digits[$0 % period] }
    }
  }

  /// Indicates pairs or triples of equal digits with a constant step between them: 112233, 111222, 9988.
  private static func isDoubled(_ digits: [UInt8]) -> Bool {
    [2, 3].contains { width in
      guard digits.count % width == 0, digits.count > width else { return false }
      let heads = stride(from: 0, to: digits.count, by: width).map { digits[$0] }
      return isStepped(heads) && digits.indices.allSatisfy { digits[$0] == heads[$0 / width] }
    }
  }

  /// Indicates a run followed by its mirror image: 123321, 1221.
  private static func isMirroredRun(_ digits: [UInt8]) -> Bool {
    digits.count % 2 == 0 && isStepped(Array(digits.prefix(digits.count / 2)))
      && digits.elementsEqual(digits.reversed())
  }

  /// Indicates a likely year of birth: 1900 to 2039.
  private static func isYear(_ digits: [UInt8]) -> Bool {
    guard digits.count == 4 else { return false }
    let year = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return (1900...2039).contains(year)
  }

  private static let list = [
    "1004", "2580", "0852", "1478", "3698", "1590", "7410", "1342", "1123", "5683", "0070", "147258",
    "258369",
    "147852", "258456", "159753", "159357", "753951", "357159", "789456", "456123", "123654", "321654",
    "142536", "123789", "987321", "121314", "010203", "102030", "520131", "100200", "112211", "123450",
    "012345", "246810", "100000", "200000", "199999", "121110", "654123", "147369", "14725836", "147258369",
    "789456123", "123400", "10203040",
  ]
}
