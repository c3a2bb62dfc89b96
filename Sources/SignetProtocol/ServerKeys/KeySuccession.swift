public import SignetCrypto
import SignetJSON

/// A server's signed statement, by its present key, that another key follows (`docs/protocol.md` section 5.5).
public struct KeySuccession: Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-key-succession"

  /// The server that owns the keys.
  public let server: ServerURL
  /// The next key.
  public let next: P256.Signing.PublicKey
  /// The time of signing, in seconds since 1970.
  public let time: Int64

  /// Creates a statement that is still to be signed.
  public init(server: ServerURL, next: P256.Signing.PublicKey, time: Int64) {
    self.server = server
    self.next = next
    self.time = time
  }

  /// Signs the statement with the present key.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` if the key cannot be used.
  public func signed(by key: P256.Signing.PrivateKey) throws(WireFailure) -> String {
    let object: JSONObject = [
      "version": .integer(Wire.version), "server": .string(server.fullForm),
      "key": .object(next.wireJWK), "time": .integer(time),
    ]
    return try ES256Message.signed(JSONValue.object(object).bytes, by: key, type: Self.type)
  }

  /// Verifies and parses a signed statement; `nil` if the key did not sign it or it is malformed.
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
