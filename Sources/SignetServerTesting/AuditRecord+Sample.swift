public import SignetStorage

extension AuditRecord {
  /// Returns an arbitrary record, for tests of a step's other effects; `name` distinguishes several.
  public static func sample(_ name: String = "sample") -> AuditRecord {
    AuditRecord(.userAdded(user: "\(name)"), by: .local, at: 0)
  }

  /// The text of the entry, without resolving names through the database.
  package var text: String { text(calling: { $0.text }) }
}
