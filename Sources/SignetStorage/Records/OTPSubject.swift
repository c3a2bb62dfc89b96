/// Whose one-time passwords an attempt is about, and who makes it.
public struct OTPSubject: Hashable, Sendable {
  /// Whose codes they should be; `nil` where the serial number alone says it.
  public var user: UserID?
  /// The token whose codes they should be, whatever its state; `nil` for any credential of the user that is in use.
  public var serial: String?
  /// The keyed digest of the end user's address, whose failures make it wait; `nil` for an operator, who never waits.
  public var client: [UInt8]?
  /// The API key with which the attempt is made; `nil` for none.
  public var key: ID<APIKeyRecord>?

  /// Describes whom an attempt is about.
  ///
  /// - Parameters:
  ///   - user: Whose codes they should be.
  ///   - serial: The token whose codes they should be.
  ///   - client: The keyed digest of the end user's address.
  ///   - key: The API key.
  public init(user: UserID?, serial: String? = nil, client: [UInt8]? = nil, key: ID<APIKeyRecord>? = nil) {
    (self.user, self.serial, self.client, self.key) = (user, serial, client, key)
  }
}
