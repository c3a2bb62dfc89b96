/// A relying party that speaks OpenID Connect, as an operator registered it.
public struct ClientRecord: Hashable, Sendable {
  /// How a client proves who it is (OpenID Connect Core section 9).
  public enum Authentication: String, Hashable, Sendable, CaseIterable {
    /// It signs an assertion with a key of its own.
    case privateKeyJWT = "private_key_jwt"
    /// It sends a secret.
    case clientSecretBasic = "client_secret_basic"
  }

  /// How a client gets what was decided (CIBA section 5).
  public enum Delivery: String, Hashable, Sendable, CaseIterable {
    /// It asks until there is something.
    case poll
    /// It is told when to ask.
    case ping
    /// It is told.
    case push
  }

  /// Names the client; not a secret.
  public var id: String
  /// What users are told who asks.
  public var name: String
  /// How it proves who it is.
  public var authentication: Authentication
  /// Its public keys, a JWK Set; `nil` for none.
  public var keySet: [UInt8]?
  /// SHA-256 of its secret, 32 bytes; `nil` for none.
  public var secretDigest: [UInt8]?
  /// How it gets what was decided.
  public var delivery: Delivery
  /// Where it is told; `nil` for a client that polls.
  public var notificationEndpoint: String?
  /// The one algorithm that its requests are signed with; `nil` where they are not signed.
  public var requestAlgorithm: String?
  /// How many digits of the number that it shows, for the user to type; `nil` for none.
  public var numberDigits: Int?
  /// When it was registered.
  public var created: Int64
  /// When it was revoked; `nil` while it is good.
  public var revoked: Int64?

  /// Describes a client.
  public init(
    id: String, name: String, authentication: Authentication, delivery: Delivery, created: Int64
  ) {
    (self.id, self.name, self.authentication) = (id, name, authentication)
    (self.delivery, self.created) = (delivery, created)
  }
}
