import SignetVault

/// A registration for push messages of a server, which this device answers like an authenticator app.
public struct PushMechanism: Sendable, Hashable, Identifiable {
  /// The ID on this device.
  public let id: Account.ID
  /// The account that it belongs to: an ``EnrolledAccount/id``, or its own ID if there is none.
  public let account: Account.ID
  /// The issuer of the account.
  public let issuer: String
  /// The user's account name at the issuer.
  public let name: String
  /// The mechanism ID at the server.
  public let mechanismID: String
  /// The URL of its registration; answers go to the same host.
  public let server: String
  /// The server's name of the user, if known.
  public let userID: String?
  /// The time of the enrolment, in seconds since 1970.
  public let created: Int64
  /// Indicates whether the server does not have the current push token yet; ``Accounts/sendPushTokens(whenDue:by:)`` sends it.
  public let isUpdateDue: Bool
  /// Indicates whether another mechanism of this device has the same issuer and name, so that only ``account`` differs.
  public let hasNamesake: Bool

  init(_ record: PushMechanismRecord, _ id: Account.ID, in records: OpenRecords) throws(VaultFailure) {
    self.id = id
    account = try Accounts.groups(in: records).first { $0.record.push == id }?.id ?? id
    hasNamesake = try Accounts.mechanisms(in: records).contains {
      $0.id != id && $0.record.issuer == record.issuer && $0.record.name == record.name
    }
    issuer = record.issuer
    name = record.name
    mechanismID = record.mechanismID
    server = record.endpoints.registration
    userID = record.userID
    created = record.created
    isUpdateDue = record.isUpdateDue
  }
}
