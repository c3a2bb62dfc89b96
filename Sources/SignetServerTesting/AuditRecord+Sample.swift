public import SignetStorage

extension AuditRecord {
  /// A record that stands for any, for tests of what else a step does; `name` tells several apart.
  public static func sample(_ name: String = "sample") -> AuditRecord {
    AuditRecord(.userAdded(user: "\(name)"), by: .local, at: 0)
  }

  /// The entry of one that names nobody whom the database knows.
  package var text: String { text(calling: { $0.text }) }
}
