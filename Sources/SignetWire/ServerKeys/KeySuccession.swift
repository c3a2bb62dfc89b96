public import SignetCrypto
import SignetJOSE
import SignetJSON

/// A server's word, under the key that it signed with so far, that another comes next (`docs/protocol.md` section 5.5).
public struct KeySuccession: Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-key-succession"

  /// Whose key it is.
  public let server: ServerURL
  /// The next key.
  public let next: P256.Signing.PublicKey
  /// When, in seconds since 1970.
  public let time: Int64

  /// Names the next key.
  public init(server: ServerURL, next: P256.Signing.PublicKey, time: Int64) {
    (self.server, self.next, self.time) = (server, next, time)
  }

  /// Signs it with the key so far.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
  public func signed(by key: P256.Signing.PrivateKey) throws(WireFailure) -> String {
    let object: JSONObject = [
      "version": .integer(Wire.version), "server": .string(server.fullForm),
      "key": .object(next.wireJWK), "time": .integer(time),
    ]
    return try ServerSignature.sign(JSONValue.object(object).bytes, by: key, type: Self.type)
  }

  /// Reads a signed word; `nil` unless the key signed it and it is of the protocol's form.
  public init?(verifying jws: String, signedBy key: P256.Signing.PublicKey) {
    guard let payload = ServerSignature.payload(of: jws, signedBy: key, type: Self.type) else { return nil }
    do {
      let object = try Wire.object(payload)
      try Wire.checkVersion(object)
      server = try ServerURL(serverID: object.wireString("server"))
      next = try P256.Signing.PublicKey(wireJWK: object.wireObject("key"), member: "key")
      time = try object.wireInteger("time")
    } catch { return nil }
  }
}

/// A compact JWS by a server's own key: ES256, `kid` is the key's thumbprint.
enum ServerSignature {
  /// Signs a payload.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
  static func sign(
    _ payload: [UInt8], by key: P256.Signing.PrivateKey, type: String
  ) throws(WireFailure) -> String {
    do {
      return try JWS.sign(payload, with: SigningKey(key, keyID: key.publicKey.thumbprint), type: type)
    } catch { throw .notAuthentic }
  }

  /// The payload; `nil` unless this key signed it, as this type.
  static func payload(
    of jws: String, signedBy key: P256.Signing.PublicKey, type: String,
    maximumByteCount limit: Int = Wire.maximumByteCount
  ) -> [UInt8]? {
    do {
      let verified = try JWS(compact: jws, maximumByteCount: limit)
        .verified(with: VerificationKey(key), allowing: [.es256])
      guard verified.header.type == type, verified.header.keyID == key.thumbprint else { return nil }
      return verified.payload
    } catch { return nil }
  }

  /// The thumbprint of the key that the signer names; `nil` for what is no JWS of this type.
  static func keyID(of jws: String, type: String, maximumByteCount limit: Int = Wire.maximumByteCount)
    -> String?
  {
    do {
      let parsed = try JWS(compact: jws, maximumByteCount: limit)
      return parsed.header.type == type ? parsed.header.keyID : nil
    } catch { return nil }
  }
}
