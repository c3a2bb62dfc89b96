/// A key of a relying party or an operator.
///
/// The key itself is not stored.
public struct APIKeyRecord: Hashable, Sendable {
  /// Names the key; not a secret.
  public var id: String
  /// What the operator calls it.
  public var name: String
  /// What users are told who asks, if that is another name.
  public var displayName: String?
  /// What it may do.
  public var scopes: [String]
  /// SHA-256 of the secret half, 32 bytes.
  public var secretDigest: [UInt8]
  /// When it was made.
  public var created: Int64
  /// When it was revoked; `nil` while it is good.
  public var revoked: Int64?

  /// Describes a key.
  public init(
    id: String, name: String, scopes: [String], secretDigest: [UInt8], created: Int64, revoked: Int64? = nil
  ) {
    (self.id, self.name, self.scopes, self.secretDigest) = (id, name, scopes, secretDigest)
    (self.created, self.revoked) = (created, revoked)
  }
}
