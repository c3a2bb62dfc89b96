public import SignetCrypto
import SignetJSON

/// What the device says of itself: its public keys and what protects them.
public struct ActivationCore: Sendable {
  /// For whom.
  public let user: UserID
  /// Where.
  public let server: ServerURL
  /// The device's ephemeral key.
  public let agreement: P256.KeyAgreement.PublicKey
  /// The keys of the new container.
  public let keys: ContainerKeys
  /// The device.
  public let device: DeviceDescription

  /// Puts the core together.
  public init(
    user: UserID, server: ServerURL, agreement: P256.KeyAgreement.PublicKey, keys: ContainerKeys,
    device: DeviceDescription
  ) {
    (self.user, self.server, self.agreement, self.keys, self.device) = (user, server, agreement, keys, device)
  }

  /// Reads a core whose proof is still to be checked.
  ///
  /// - Throws: ``WireFailure``.
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

  /// The core as signed.
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
