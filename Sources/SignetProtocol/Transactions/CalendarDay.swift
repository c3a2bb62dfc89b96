/// A day of the Gregorian calendar, such as `2026-11-21` (RFC 3339 `full-date`).
public struct CalendarDay: Hashable, Sendable {
  /// The day in RFC 3339 form.
  public let text: String

  /// Validates a day.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a text that is no day of the years 1 to 9999.
  public init(_ text: String) throws(WireFailure) {
    let bytes = Array(text.utf8.prefix(11))
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
      let day = Self.number(bytes[8..<10]), year > 0, (1...12).contains(month),
      (1...Self.days(in: month, of: year)).contains(day)
    else { throw .invalid(member: "value", reason: "must be a day, such as 2026-11-21") }
    self.text = text
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var number = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return number
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
