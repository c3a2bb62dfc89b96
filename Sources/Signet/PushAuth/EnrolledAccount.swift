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
