// Whoever imports this module needs the types of ids.
@_exported public import SignetIdentifiers

extension ID {
  /// Checks an identifier that came from outside.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for any other character or length.
  public init(_ text: String) throws(WireFailure) {
    guard let id = Self(checking: text) else { throw .invalid(member: "id", reason: Self.form) }
    self = id
  }
}
