import SignetText

/// How a notification is answered.
public enum PushAuthKind: String, Sendable, Hashable, CaseIterable {
  /// With yes or no.
  case `default`
  /// With the one of some numbers that the screen of the sign-in shows.
  case challenge
  /// With yes, after the user of the device was recognised, or no.
  case biometric

  /// The kind with this name in either case; what is not known is answered with yes or no, as everywhere.
  public init(name: String?) {
    let lower = String(decoding: (name ?? "").utf8.map { 0x41...0x5A ~= $0 ? $0 + 0x20 : $0 }, as: UTF8.self)
    self = Self(rawValue: lower) ?? .default
  }
}

/// The numbers to choose from, as a claim has them: `34,56,82`.
public enum PushAuthNumbers {
  /// The most that are read.
  public static let limit = 32

  /// Reads numbers; spaces around them are dropped, and so are parts that are none.
  ///
  /// - Parameter text: The claim.
  /// - Returns: The numbers in order.
  public static func parse(_ text: String) -> [Int64] {
    Array(
      text.split(separator: ",").lazy.compactMap { Int64(String($0).trimmed) }.prefix(limit))
  }
}
