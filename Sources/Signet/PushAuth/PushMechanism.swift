import SignetVault

/// A way to be asked: messages of a server that this device answers, as authenticator apps do.
public struct PushMechanism: Sendable, Hashable, Identifiable {
  /// Names it on this device.
  public let id: Account.ID
  /// The account that it belongs to: an ``EnrolledAccount/id``.
  public let account: Account.ID
  /// Who the account is with.
  public let issuer: String
  /// Whose it is, at the issuer.
  public let name: String
  /// What the server calls it.
  public let mechanismID: String
  /// Where it registered; answers go to the same host.
  public let server: String
  /// The server's name of the user, where it is known.
  public let userID: String?
  /// When it was enrolled, in seconds since 1970.
  public let created: Int64
  /// Whether the server does not know the present device token yet; ``Accounts/sendPushTokens(by:)`` tells it.
  public let isUpdateDue: Bool
  /// Whether another mechanism of this device has the same issuer and name, so that only ``account`` tells the two apart.
  public let hasNamesake: Bool

  init(_ record: PushMechanismRecord, _ id: Account.ID, in records: OpenRecords) throws(VaultFailure) {
    self.id = id
    account = try Accounts.groups(in: records).first { $0.record.push == id }?.id ?? id
    hasNamesake = try Accounts.mechanisms(in: records).contains {
      $0.id != id && $0.record.issuer == record.issuer && $0.record.name == record.name
    }
    (issuer, name, mechanismID) = (record.issuer, record.name, record.mechanismID)
    (server, userID, created) = (record.endpoints.registration, record.userID, record.created)
    isUpdateDue = record.isUpdateDue
  }
}
