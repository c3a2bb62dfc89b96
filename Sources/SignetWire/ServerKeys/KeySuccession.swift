public import SignetCrypto
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
    return try ES256Message.signed(JSONValue.object(object).bytes, by: key, type: Self.type)
  }

  /// Reads a signed word; `nil` unless the key signed it and it is of the protocol's form.
  public init?(verifying jws: String, signedBy key: P256.Signing.PublicKey) {
    guard let payload = ES256Message(jws, type: Self.type)?.payload(signedBy: key) else { return nil }
    do {
      let object = try Wire.object(payload)
      try Wire.checkVersion(object)
      server = try ServerURL(serverID: object.wireString("server"))
      next = try P256.Signing.PublicKey(wireJWK: object.wireObject("key"), member: "key")
      time = try object.wireInteger("time")
    } catch { return nil }
  }
}
