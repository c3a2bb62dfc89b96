public import SignetStorage

// Tests write identifiers and users as they are: "c1", "t\(number)", "alice". Their form is not checked, also
// where a literal stands in `UserID("alice")`.

extension ID: ExpressibleByStringInterpolation {
  /// An identifier of a test.
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension UserID: ExpressibleByStringInterpolation {
  /// A user of a test.
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}
