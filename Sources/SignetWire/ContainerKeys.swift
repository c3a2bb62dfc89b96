public import SignetCrypto
public import SignetJSON

/// The public keys of a container (`docs/protocol.md` section 3.3).
public struct ContainerKeys: Hashable, Sendable {
  /// Signs requests.
  public let session: P256.Signing.PublicKey
  /// Receives what the server encrypts.
  public let encryption: P256.KeyAgreement.PublicKey
  /// Signs decisions.
  public let signing: P256.Signing.PublicKey

  /// Puts the keys together.
  public init(
    session: P256.Signing.PublicKey, encryption: P256.KeyAgreement.PublicKey, signing: P256.Signing.PublicKey
  ) {
    (self.session, self.encryption, self.signing) = (session, encryption, signing)
  }

  /// Reads the keys.
  ///
  /// - Throws: ``WireFailure``, also when two of the keys are the same.
  public init(_ object: JSONObject) throws(WireFailure) {
    session = try P256.Signing.PublicKey(wireJWK: object.wireObject("session"), member: "session")
    encryption = try P256.KeyAgreement.PublicKey(
      wireJWK: object.wireObject("encryption"), member: "encryption")
    signing = try P256.Signing.PublicKey(wireJWK: object.wireObject("signing"), member: "signing")
    let different = Set([
      session.x963Representation, encryption.x963Representation, signing.x963Representation,
    ])
    guard different.count == 3 else {
      throw .invalid(member: "keys", reason: "holds one key twice; each use has its own key")
    }
  }

  /// The keys as the protocol writes them.
  public var json: JSONObject {
    var object = JSONObject()
    object["session"] = .object(session.wireJWK)
    object["encryption"] = .object(encryption.wireJWK)
    object["signing"] = .object(signing.wireJWK)
    return object
  }
}
