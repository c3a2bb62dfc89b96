/// The subject of an attempt with one-time passwords, and its caller.
public struct OTPSubject: Hashable, Sendable {
  /// The user of the codes; `nil` if the serial number alone identifies the token.
  public var user: UserID?
  /// The token of the codes, in any state; `nil` for any active credential of the user.
  public var serial: String?
  /// The keyed digest of the end user's address, for which failures cause a waiting time; `nil` for an operator, who never waits.
  public var client: [UInt8]?
  /// The API key of the caller; `nil` for none.
  public var key: ID<APIKeyRecord>?

  /// Describes the subject of an attempt.
  public init(user: UserID?, serial: String? = nil, client: [UInt8]? = nil, key: ID<APIKeyRecord>? = nil) {
    self.user = user
    self.serial = serial
    self.client = client
    self.key = key
  }
}
