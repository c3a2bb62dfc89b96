public import SignetCrypto
import SignetJSON

/// What a device asks first when it renews a container (`docs/protocol.md` section 3.5).
public struct RenewalStart: Sendable {
  /// Which container is to be renewed.
  public let container: ContainerID
  /// The request body as sent: 32 random bytes of the device are in it.
  public let bytes: [UInt8]

  /// Makes the request with a fresh nonce.
  public init(container: ContainerID, random: some RandomSource) {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["container"] = .string(container.text)
    object["nonce"] = .string(Base64URL.encode(random.bytes(32)))
    self.container = container
    bytes = JSONValue.object(object).bytes
  }

  /// Reads a request body.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    _ = try object.wireBytes("nonce", count: 32)
    container = try ContainerID(object.wireString("container"))
    self.bytes = bytes
  }
}
