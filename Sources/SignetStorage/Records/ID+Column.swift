// Whoever imports this module needs the types of ids.
@_exported public import SignetIdentifiers
public import SignetSQL

/// An identifier is a column of text.
extension ID: SQLRepresentable {
  /// The text.
  public var sqlValue: SQLValue { .text(text) }

  /// The identifier in a row of which the MAC says whether this server has written it.
  public init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self.init(unchecked: text)
  }
}

extension SQLRow {
  /// The identifier in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  func id<Named>(_ index: Int) throws(SQLFailure) -> ID<Named> { try value(index) }
}

extension MACInput {
  mutating func append<Named>(_ id: ID<Named>?) { append(id?.text) }
}

/// A user's id is a column of text.
extension UserID: SQLRepresentable {
  /// The text.
  public var sqlValue: SQLValue { .text(text) }

  /// The id in a row of which the MAC says whether this server has written it.
  public init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self.init(unchecked: text)
  }
}

extension SQLRow {
  /// The user in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  func user(_ index: Int) throws(SQLFailure) -> UserID { try value(index) }
}

extension MACInput {
  mutating func append(_ user: UserID?) { append(user?.text) }
}
