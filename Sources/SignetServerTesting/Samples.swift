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

extension UserRecord {
  /// Creates an active user whose subject derives from the ID: for tests that do not delete a user and add it again.
  package init(id: UserID, created: Int64) { self.init(id: id, subject: "~\(id)", created: created) }
}

extension AuditRecord {
  /// Returns an arbitrary record, for tests of a step's other effects; `name` distinguishes several.
  package static func sample(_ name: String = "sample") -> AuditRecord {
    AuditRecord(.userAdded(user: "\(name)"), by: .local, at: 0)
  }

  /// The text of the entry, without resolving names through the database.
  package var text: String { text(calling: { $0.text }) }
}
