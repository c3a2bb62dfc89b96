public import SignetCrypto
import SignetJSON

/// What a device asks first.
public struct ActivationStart: Sendable {
  /// For whom the device wants a container.
  public let user: UserID
  /// The request body as sent: 32 random bytes of the device are in it.
  public let bytes: [UInt8]

  /// Makes the request with a fresh nonce.
  public init(user: UserID, random: some RandomSource) {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["user"] = .string(user.text)
    object["nonce"] = .string(Base64URL.encode(random.bytes(32)))
    self.user = user
    bytes = JSONValue.object(object).bytes
  }

  /// Reads a request body.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    _ = try object.wireBytes("nonce", count: 32)
    user = try UserID(try object.wireString("user"))
    self.bytes = bytes
  }
}
