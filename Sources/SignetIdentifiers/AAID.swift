/// The id of an authenticator model: four hexadecimal digits of its vendor, `#`, and four of the model.
///
/// Comparison ignores the case of the digits.
package struct AAID: Hashable, Sendable, Comparable, CustomStringConvertible {
  package let vendor: UInt16
  package let model: UInt16
  /// The nine characters as written.
  package let text: String

  /// Parses a string of nine ASCII characters; `nil` for any other form.
  package init?(_ text: String) {
    guard text.utf8.count == 9 else { return nil }
    self.init(ascii: Array(text.utf8)[...])
  }

  /// Parses nine ASCII bytes; `nil` for any other form.
  package init?(ascii: ArraySlice<UInt8>) {
    let start = ascii.startIndex
    guard ascii.count == 9, ascii[start + 4] == UInt8(ascii: "#"),
      let vendor = Self.number(ascii[start..<(start + 4)]),
      let model = Self.number(ascii[(start + 5)..<(start + 9)])
    else { return nil }
    (self.vendor, self.model, text) = (vendor, model, String(decoding: ascii, as: UTF8.self))
  }

  /// Creates an AAID in upper case.
  package init(vendor: UInt16, model: UInt16) {
    (self.vendor, self.model) = (vendor, model)
    text = "\(vendor.registryHex.dropFirst(2))#\(model.registryHex.dropFirst(2))"
  }

  /// The four digits of the vendor, in upper case.
  package var vendorID: String { String(vendor.registryHex.dropFirst(2)) }

  package var description: String { text }

  package static func == (left: AAID, right: AAID) -> Bool {
    left.vendor == right.vendor && left.model == right.model
  }

  /// Indicates whether two texts are equal except for their case; they need not be valid AAIDs.
  package static func areSame(_ left: String, _ right: String) -> Bool {
    left == right || left.lowercased() == right.lowercased()
  }

  package static func < (left: AAID, right: AAID) -> Bool {
    (left.vendor, left.model) < (right.vendor, right.model)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(vendor)
    hasher.combine(model)
  }

  /// Parses four hexadecimal digits.
  package static func number(_ digits: some Collection<UInt8>) -> UInt16? {
    guard digits.count == 4 else { return nil }
    var number: UInt16 = 0
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      number = number << 4 | UInt16(value)
    }
    return number
  }
}

extension UInt16 {
  /// The number as in FIDO's registries: `0x0001`.
  package var registryHex: String {
    let digits = String(self, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
