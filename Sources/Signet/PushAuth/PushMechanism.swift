/// A way to be asked: messages of a server that this device answers, as authenticator apps do.
public struct PushMechanism: Sendable, Hashable, Identifiable {
  /// Names it on this device.
  public let id: Account.ID
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

  init(_ record: PushMechanismRecord, _ id: Account.ID) {
    self.id = id
    (issuer, name, mechanismID) = (record.issuer, record.name, record.mechanismID)
    (server, userID, created) = (record.endpoints.registration, record.userID, record.created)
    isUpdateDue = record.isUpdateDue
  }
}

/// An account at an issuer with all that this device has of it: one-time codes by time or counter, and push messages.
public struct EnrolledAccount: Sendable, Hashable, Identifiable {
  /// Names it on this device, whatever it is called.
  public let id: Account.ID
  /// Who it is with.
  public let issuer: String
  /// Whose it is, at the issuer.
  public let name: String
  /// Who to show it as being with: ``issuer`` unless it was renamed.
  public let displayIssuer: String
  /// Whose to show it as being: ``name`` unless it was renamed.
  public let displayName: String
  /// Where a picture is; text from outside, never fetched here.
  public let image: String?
  /// A colour, without a number sign.
  public let backgroundColor: String?
  /// The account policies that came with it: the names, sorted.
  public let policyNames: [String]
  /// When it was first enrolled, in seconds since 1970.
  public let created: Int64
  /// Its one-time codes, in the order in which they came.
  public let codes: [Account]
  /// Its push mechanism.
  public let push: PushMechanism?
}

/// What became of an enrolment.
public struct Enrolment: Sendable {
  /// The account with all that it has now.
  public let account: EnrolledAccount
  /// Whether it was there before, and got what the URI had beside that.
  public let wasThere: Bool
  /// Policies of the URI that differ from those that the account has, which stay: their names.
  public let policyConflicts: [String]
}

/// What to answer to a push message.
public enum PushDecision: Sendable, Hashable {
  /// Yes; where the server demands it, after this device has recognised its user.
  case approve
  /// Yes, with the number that the sign-in shows.
  case number(String)
  /// No.
  case deny
}
