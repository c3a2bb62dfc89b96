/// A non-negative amount of money in canonical form: no leading zeros, and exactly the currency's decimal places.
public struct MoneyAmount: Hashable, Sendable {
  /// The number, such as `250.00`.
  public let value: String
  /// The currency, three capital letters (ISO 4217).
  public let currency: String

  /// Validates an amount.
  ///
  /// - Parameters:
  ///   - value: 1 to 15 digits, and as many after a point as the currency has decimal places.
  ///   - currency: Three capital letters.
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a malformed currency or value.
  public init(_ value: String, currency: String) throws(WireFailure) {
    guard currency.utf8.count == 3,
      currency.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
    else { throw .invalid(member: "currency", reason: "must have three capital letters (ISO 4217)") }
    let places = Self.decimalPlaces(of: currency)
    let parts = Array(value.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard value.utf8.count <= 32, parts.count == (places == 0 ? 1 : 2), (1...15).contains(parts[0].count),
      parts.allSatisfy({ $0.allSatisfy(digits.contains) }),
      parts[0].count == 1 || parts[0].first != UInt8(ascii: "0"), places == 0 || parts[1].count == places
    else {
      throw .invalid(
        member: "value",
        reason: places == 0
          ? "must be an amount without decimal places in \(currency), such as 250"
          : "must be an amount with \(places) decimal places in \(currency), such as 250.\(String(repeating: "0", count: places))"
      )
    }
    (self.value, self.currency) = (value, currency)
  }

  /// Returns the decimal places of a currency: two, except for those that ISO 4217 lists with another number.
  static func decimalPlaces(of currency: String) -> Int {
    switch currency {
    case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV",
      "XAF",
      "XOF", "XPF":
      0
    case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND": 3
    case "CLF", "UYW": 4
    default: 2
    }
  }
}
