public import SignetCrypto
import SignetJSON

/// The renewal message of a device: the new public keys, signed by the present signing key.
///
/// The signature links the new key to the present one: anyone who trusts the present key can verify it without the server.
public struct RenewalCore: Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-renewal"
  /// The `typ` of the server's proof.
  public static let receiptType = "signet-renewal-receipt"

  /// The container whose keys are renewed.
  public let container: ContainerID
  /// The owner of the container.
  public let user: UserID
  /// The server id.
  public let server: ServerURL
  /// The device's ephemeral key.
  public let agreement: P256.KeyAgreement.PublicKey
  /// The new keys.
  public let keys: ContainerKeys
  /// The description of the device; with an empty name, the server keeps the name that it has.
  public let device: DeviceDescription

  /// Creates a core.
  public init(
    container: ContainerID, user: UserID, server: ServerURL, agreement: P256.KeyAgreement.PublicKey,
    keys: ContainerKeys, device: DeviceDescription
  ) {
    self.container = container
    self.user = user
    self.server = server
    self.agreement = agreement
    self.keys = keys
    self.device = device
  }

  /// Parses a core whose signature is not verified yet.
  ///
  /// - Throws: ``WireFailure`` if the core is not of the protocol's form.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    try self.init(
      container: ContainerID(object.wireString("container")), user: UserID(object.wireString("user")),
      server: ServerURL(serverID: object.wireString("server")),
      agreement: P256.KeyAgreement.PublicKey(wireJWK: object.wireObject("agreement"), member: "agreement"),
      keys: ContainerKeys(object.wireObject("keys")), device: DeviceDescription(object.wireObject("device")))
  }

  /// The core as JSON: the payload that the signature covers.
  public var bytes: [UInt8] {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["container"] = .string(container.text)
    object["user"] = .string(user.text)
    object["server"] = .string(server.fullForm)
    object["agreement"] = .object(agreement.wireJWK)
    object["keys"] = .object(keys.json)
    object["device"] = .object(device.json)
    return JSONValue.object(object).bytes
  }

  /// Signs the core with ES256; `kid` is the thumbprint of the present signing key.
  ///
  /// - Parameters:
  ///   - key: The present signing key's public half.
  ///   - sign: Signs a message with ECDSA and SHA-256.
  /// - Returns: A compact JWS.
  /// - Throws: The error that `sign` throws.
  public func signed<Failure: Error>(
    for key: P256.Signing.PublicKey, by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await ES256Message.signed(bytes, for: key, type: Self.type, by: sign)
  }

  /// Indicates whether a key signed this message and its `typ` is ``type``.
  public static func isSigned(_ message: String, by key: P256.Signing.PublicKey) -> Bool {
    ES256Message(message, type: type)?.payload(signedBy: key) != nil
  }
}

extension ActivationSecrets {
  /// Derives the key that replaces the invite key in a renewal; only a side with the container's present secret can.
  ///
  /// - Parameters:
  ///   - otpSecret: The present one-time password secret, 32 bytes.
  ///   - container: The container whose keys are renewed.
  /// - Returns: The key, 32 bytes.
  public static func renewalKey(otpSecret: borrowing SecretBytes, container: ContainerID) -> SecretBytes {
    HKDF.expand(
      otpSecret, info: Array("signet/1 renewal".utf8) + [0] + Array(container.text.utf8), byteCount: 32,
      .sha256)
  }
}
