import SignetSystem

/// The kind of answer that a notification requires.
public enum PushAuthKind: String, Sendable, Hashable, CaseIterable {
  /// An approval or a denial.
  case `default`
  /// The number that is displayed at the sign-in, of several numbers.
  case challenge
  /// An approval after the device has verified its user, or a denial.
  case biometric

  /// Returns the kind with this case-insensitive name; `default` for an unknown one, as in other apps.
  public init(name: String?) {
    let lower = String(decoding: (name ?? "").utf8.map { 0x41...0x5A ~= $0 ? $0 + 0x20 : $0 }, as: UTF8.self)
    self = Self(rawValue: lower) ?? .default
  }
}

/// The numbers to choose from in the form of a claim: `34,56,82`.
public enum PushAuthNumbers {
  /// The largest number of numbers.
  public static let limit = 32

  /// Parses numbers; surrounding spaces are dropped, and parts that are no numbers are skipped.
  ///
  /// - Parameter text: The claim.
  /// - Returns: The numbers, in order.
  public static func parse(_ text: String) -> [Int64] {
    Array(
      text.split(separator: ",").lazy.compactMap { Int64(String($0).trimmed) }.prefix(limit))
  }
}
