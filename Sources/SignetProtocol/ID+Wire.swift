// Re-exported: users of this module need the identifier types.
@_exported public import SignetIdentifiers

extension ID {
  /// Validates an identifier from an untrusted source.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for a character or length that is not allowed.
  public init(_ text: String) throws(WireFailure) {
    guard let id = Self(checking: text) else { throw .invalid(member: "id", reason: Self.form) }
    self = id
  }
}
