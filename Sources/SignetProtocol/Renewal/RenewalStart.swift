public import SignetCrypto
import SignetJSON

/// The body of *start*, the first request of a renewal (`docs/protocol.md` section 3.5).
public struct RenewalStart: Sendable {
  /// The container to renew.
  public let container: ContainerID
  /// The body exactly as sent, with a nonce of 32 random bytes; the transcript covers these bytes.
  public let bytes: [UInt8]

  /// Creates a request with a fresh nonce.
  public init(container: ContainerID, random: some RandomSource) {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["container"] = .string(container.text)
    object["nonce"] = .string(Base64URL.encode(random.bytes(32)))
    self.container = container
    bytes = JSONValue.object(object).bytes
  }

  /// Parses a request body.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON, another version or a malformed member.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    _ = try object.wireBytes("nonce", count: 32)
    container = try ContainerID(object.wireString("container"))
    self.bytes = bytes
  }
}
