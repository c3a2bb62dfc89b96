public import SignetCrypto
public import SignetJSON

/// The public keys of a container (`docs/protocol.md` section 3.3).
public struct ContainerKeys: Hashable, Sendable {
  /// The key that signs requests.
  public let session: P256.Signing.PublicKey
  /// The key to which the server encrypts.
  public let encryption: P256.KeyAgreement.PublicKey
  /// The key that signs decisions.
  public let signing: P256.Signing.PublicKey

  /// Creates a set of keys.
  public init(
    session: P256.Signing.PublicKey, encryption: P256.KeyAgreement.PublicKey, signing: P256.Signing.PublicKey
  ) {
    self.session = session
    self.encryption = encryption
    self.signing = signing
  }

  /// Parses the keys.
  ///
  /// - Throws: ``WireFailure``, also if two of the keys are equal.
  public init(_ object: JSONObject) throws(WireFailure) {
    session = try P256.Signing.PublicKey(wireJWK: object.wireObject("session"), member: "session")
    encryption = try P256.KeyAgreement.PublicKey(
      wireJWK: object.wireObject("encryption"), member: "encryption")
    signing = try P256.Signing.PublicKey(wireJWK: object.wireObject("signing"), member: "signing")
    let distinct = Set([
      session.x963Representation, encryption.x963Representation, signing.x963Representation,
    ])
    guard distinct.count == 3 else {
      throw .invalid(member: "keys", reason: "has the same key twice; each use requires its own key")
    }
  }

  /// The keys in their JSON form.
  public var json: JSONObject {
    var object = JSONObject()
    object["session"] = .object(session.wireJWK)
    object["encryption"] = .object(encryption.wireJWK)
    object["signing"] = .object(signing.wireJWK)
    return object
  }
}
