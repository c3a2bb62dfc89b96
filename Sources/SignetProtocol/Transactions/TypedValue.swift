/// A typed value in the canonical form that device and server sign (`docs/protocol.md` section 5.10).
///
/// Spaces are dropped, letters are upper case, and an amount has no trailing zeros in its decimal places: `250.00 EUR`,
/// `250,0 eur` and `250 EUR` all become `250EUR`.
public struct TypedValue: Hashable, Sendable, CustomStringConvertible {
  /// The greatest length of the signed form, in characters.
  public static let maximumLength = 64

  /// The reasons why a text is no typed value.
  public enum Failure: Error, Hashable, Sendable {
    /// The text is too long; both values are numbers of characters without spaces.
    case tooLong(length: Int, limit: Int)
    /// The text is empty, or has a character other than visible ASCII and spaces.
    case characters
    /// The separators are ambiguous: `1.250` and `1,250.00` may have decimal places or not.
    case separators
  }

  /// The signed form: 1 to 64 visible ASCII characters without lower-case letters.
  public let description: String

  /// Parses a typed value.
  ///
  /// - Parameter typed: The input; spaces and lower-case letters are allowed everywhere.
  /// - Throws: ``Failure`` if the text is empty, too long, ambiguous or has other characters.
  public init(_ typed: String) throws(Failure) {
    var characters: [UInt8] = []
    for scalar in typed.unicodeScalars where !Self.isSpace(scalar) {
      guard (0x21...0x7E).contains(scalar.value) else { throw .characters }
      let byte = UInt8(scalar.value)
      characters.append((0x61...0x7A).contains(byte) ? byte - 0x20 : byte)
    }
    guard !characters.isEmpty else { throw .characters }
    characters = try Self.amount(characters) ?? characters
    guard characters.count <= Self.maximumLength else {
      throw .tooLong(length: characters.count, limit: Self.maximumLength)
    }
    description = String(decoding: characters, as: UTF8.self)
  }

  /// Converts an amount with its currency.
  init(_ amount: MoneyAmount) {
    let parts = amount.value.utf8.split(separator: UInt8(ascii: "."))
    let places = parts.count > 1 ? Self.withoutZeros(parts[1]) : []
    let number = Array(parts[0]) + (places.isEmpty ? [] : [UInt8(ascii: ".")]) + places
    description = String(decoding: number, as: UTF8.self) + amount.currency
  }

  /// Indicates whether a scalar is a space, a no-break space or a narrow no-break space: keyboards and page layouts produce
  /// these.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    [0x20, 0xA0, 0x202F].contains(scalar.value)
  }

  /// Returns the canonical form of an amount with decimal places; `nil` if the text is no such amount.
  private static func amount(_ text: [UInt8]) throws(Failure) -> [UInt8]? {
    let (point, comma) = (UInt8(ascii: "."), UInt8(ascii: ","))
    let letters = Array(text.reversed().prefix { (0x41...0x5A).contains($0) }.reversed())
    let number = text.dropLast(letters.count)
    guard letters.isEmpty || letters.count == 3, let first = number.first, isDigit(first),
      number.allSatisfy({ isDigit($0) || $0 == point || $0 == comma })
    else { return nil }
    guard !(number.contains(point) && number.contains(comma)) else { throw .separators }
    let parts = number.split(omittingEmptySubsequences: false) { $0 == point || $0 == comma }
    guard parts.count == 2, !parts[1].isEmpty else { return nil }
    guard parts[1].count != 3 else { throw .separators }
    let places = withoutZeros(parts[1])
    return Array(parts[0]) + (places.isEmpty ? [] : [point]) + places + letters
  }

  private static func withoutZeros(_ digits: some BidirectionalCollection<UInt8>) -> [UInt8] {
    Array(digits.reversed().drop { $0 == UInt8(ascii: "0") }.reversed())
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
