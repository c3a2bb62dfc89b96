/// An account at an issuer, with all its parts on this device: one-time codes and a push mechanism.
public struct EnrolledAccount: Sendable, Hashable, Identifiable {
  /// The ID on this device, independent of the names.
  public let id: Account.ID
  /// The issuer.
  public let issuer: String
  /// The user's account name at the issuer.
  public let name: String
  /// The issuer for display: ``issuer`` unless it was renamed.
  public let displayIssuer: String
  /// The account name for display: ``name`` unless it was renamed.
  public let displayName: String
  /// The URL of a picture; it is untrusted text and is never fetched here.
  public let image: String?
  /// The background color, without a number sign.
  public let backgroundColor: String?
  /// The names of its account policies, sorted.
  public let policyNames: [String]
  /// The time of the first enrolment, in seconds since 1970.
  public let created: Int64
  /// Its one-time codes, in the order of their enrolment.
  public let codes: [Account]
  /// Its push mechanism.
  public let push: PushMechanism?
}

/// The result of an enrolment.
public struct Enrolment: Sendable {
  /// The account with all its parts.
  public let account: EnrolledAccount
  /// Indicates whether the account existed before and received additional parts.
  public let wasThere: Bool
  /// The names of URI policies that conflict with those of the account; the account keeps its own.
  public let policyConflicts: [String]
}
