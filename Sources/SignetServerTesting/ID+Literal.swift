public import SignetStorage

// Tests write identifiers and users as literals: "c1", "t\(number)", "alice". Their form is not validated, not even in
// `UserID("alice")`.

extension ID: ExpressibleByStringInterpolation {
  /// Creates an identifier without validation.
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension UserID: ExpressibleByStringInterpolation {
  /// Creates a user ID without validation.
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}
