// Importers of this module need the types of ids.
@_exported public import SignetIdentifiers
public import SignetSQL

/// Stored in a text column.
extension ID: SQLRepresentable {
  /// The text.
  public var sqlValue: SQLValue { .text(text) }

  /// Makes the identifier without validation, because the MAC of its row verifies.
  public init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self.init(unchecked: text)
  }
}

/// Stored in a text column.
extension UserID: SQLRepresentable {
  /// The text.
  public var sqlValue: SQLValue { .text(text) }

  /// Makes the id without validation, because the MAC of its row verifies.
  public init?(sqlValue: SQLValue) {
    guard case .text(let text) = sqlValue else { return nil }
    self.init(unchecked: text)
  }
}

extension SQLRow {
  /// Returns the identifier in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  func id<Named>(_ index: Int) throws(SQLFailure) -> ID<Named> { try value(index) }

  /// Returns the user in a column.
  ///
  /// - Throws: ``SQLFailure/unexpectedValue(column:expected:found:)``.
  func user(_ index: Int) throws(SQLFailure) -> UserID { try value(index) }
}

extension MACInput {
  mutating func append<Named>(_ id: ID<Named>?) { append(id?.text) }
  mutating func append(_ user: UserID?) { append(user?.text) }
}

// Enumerations that are stored as words in text columns.
extension ActivationRecord.State: SQLRepresentable {}
extension ContainerRecord.State: SQLRepresentable {}
extension CredentialRecord.Kind: SQLRepresentable {}
extension CredentialRecord.State: SQLRepresentable {}
extension TransactionRecord.State: SQLRepresentable {}
extension ClientRecord.Authentication: SQLRepresentable {}
extension ClientRecord.Delivery: SQLRepresentable {}
extension UAFCredentialRecord.State: SQLRepresentable {}
extension UAFCredentialRecord.ModelProof: SQLRepresentable {}
extension UAFOperationRecord.State: SQLRepresentable {}
extension PushAuthMechanismRecord.State: SQLRepresentable {}
extension PushAuthMessageRecord.State: SQLRepresentable {}
extension DeviceCommandRecord.Action: SQLRepresentable {}
extension AuthenticatorRecord.Kind: SQLRepresentable {}
extension OutboxChannel: SQLRepresentable {}
extension OutboxEvent.Kind: SQLRepresentable {}
