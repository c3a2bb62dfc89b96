public import SignetCrypto
import SignetJSON

/// The payload that the device proves at activation: user, server, ephemeral key, public keys and device description.
public struct ActivationCore: Sendable {
  /// The user who will own the container.
  public let user: UserID
  /// The server id.
  public let server: ServerURL
  /// The device's ephemeral key.
  public let agreement: P256.KeyAgreement.PublicKey
  /// The keys of the new container.
  public let keys: ContainerKeys
  /// The description of the device.
  public let device: DeviceDescription

  /// Creates a core.
  public init(
    user: UserID, server: ServerURL, agreement: P256.KeyAgreement.PublicKey, keys: ContainerKeys,
    device: DeviceDescription
  ) {
    self.user = user
    self.server = server
    self.agreement = agreement
    self.keys = keys
    self.device = device
  }

  /// Parses a core whose proof is not verified yet.
  ///
  /// - Throws: ``WireFailure`` if the core is not of the protocol's form.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    user = try UserID(object.wireString("user"))
    server = try ServerURL(serverID: object.wireString("server"))
    agreement = try P256.KeyAgreement.PublicKey(
      wireJWK: object.wireObject("agreement"), member: "agreement")
    keys = try ContainerKeys(object.wireObject("keys"))
    device = try DeviceDescription(object.wireObject("device"))
  }

  /// The core as JSON: the payload that the proof covers.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["user"] = .string(user.text)
    object["server"] = .string(server.fullForm)
    object["agreement"] = .object(agreement.wireJWK)
    object["keys"] = .object(keys.json)
    object["device"] = .object(device.json)
    return JSONValue.object(object).bytes
  }
}
