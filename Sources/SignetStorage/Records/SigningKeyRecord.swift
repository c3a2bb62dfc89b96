/// A key that the server signs with.
public struct SigningKeyRecord: Hashable, Sendable {
  /// Names the key: the RFC 7638 thumbprint of its public half.
  public var id: String
  /// The private half, under the server's master key.
  public var sealed: [UInt8]
  /// The public half, X9.63, 65 bytes.
  public var publicKey: [UInt8]
  /// When it was made.
  public var created: Int64
  /// When another took its place; `nil` for the present one.
  public var retired: Int64?
  /// The word of the key before it that this one comes next, a JWS; `nil` for the first.
  public var succession: String?

  /// Describes a key.
  public init(
    id: String, sealed: [UInt8], publicKey: [UInt8], created: Int64, retired: Int64? = nil,
    succession: String? = nil
  ) {
    (self.id, self.sealed, self.publicKey) = (id, sealed, publicKey)
    (self.created, self.retired, self.succession) = (created, retired, succession)
  }
}
