public import SignetCrypto
import SignetJSON

/// The body of *start*, the first request of an activation.
public struct ActivationStart: Sendable {
  /// The user who will own the container.
  public let user: UserID
  /// The body exactly as sent, with a nonce of 32 random bytes; the transcript covers these bytes.
  public let bytes: [UInt8]

  /// Creates a request with a fresh nonce.
  public init(user: UserID, random: some RandomSource) {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["user"] = .string(user.text)
    object["nonce"] = .string(Base64URL.encode(random.bytes(32)))
    self.user = user
    bytes = JSONValue.object(object).bytes
  }

  /// Parses a request body.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON, another version or a malformed member.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    _ = try object.wireBytes("nonce", count: 32)
    user = try UserID(try object.wireString("user"))
    self.bytes = bytes
  }
}
