public import SignetCrypto
import SignetJSON

/// What a device says when it renews a container: the new public keys, signed by the present signing key.
///
/// The signature hands over from one key to the next: whoever trusts the present one can check it, without the server.
public struct RenewalCore: Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-renewal"
  /// The `typ` of the server's proof.
  public static let receiptType = "signet-renewal-receipt"

  /// The container whose keys are renewed.
  public let container: ContainerID
  /// For whom.
  public let user: UserID
  /// Where.
  public let server: ServerURL
  /// The device's ephemeral key.
  public let agreement: P256.KeyAgreement.PublicKey
  /// The new keys.
  public let keys: ContainerKeys
  /// The device; an empty name keeps the one that the server knows.
  public let device: DeviceDescription

  /// Puts the core together.
  public init(
    container: ContainerID, user: UserID, server: ServerURL, agreement: P256.KeyAgreement.PublicKey,
    keys: ContainerKeys, device: DeviceDescription
  ) {
    (self.container, self.user, self.server) = (container, user, server)
    (self.agreement, self.keys, self.device) = (agreement, keys, device)
  }

  /// Reads a core whose signature is still to be verified.
  ///
  /// - Throws: ``WireFailure``.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    try Wire.checkVersion(object)
    try self.init(
      container: ContainerID(object.wireString("container")), user: UserID(object.wireString("user")),
      server: ServerURL(serverID: object.wireString("server")),
      agreement: P256.KeyAgreement.PublicKey(wireJWK: object.wireObject("agreement"), member: "agreement"),
      keys: ContainerKeys(object.wireObject("keys")), device: DeviceDescription(object.wireObject("device")))
  }

  /// The core as signed.
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

  /// Signs the core: ES256, `kid` is the thumbprint of the present signing key.
  ///
  /// - Parameters:
  ///   - key: The public key.
  ///   - sign: Signs a message with SHA-256.
  /// - Returns: A JWS.
  /// - Throws: What `sign` throws.
  public func signed<Failure: Error>(
    for key: P256.Signing.PublicKey, by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await ES256Message.signed(bytes, for: key, type: Self.type, by: sign)
  }

  /// Whether a key signed this message, and the message is a renewal.
  public static func isSigned(_ message: String, by key: P256.Signing.PublicKey) -> Bool {
    ES256Message(message, type: type)?.payload(signedBy: key) != nil
  }
}

extension ActivationSecrets {
  /// What takes the place of the invite key in a renewal: only who knows the container's present secret has it.
  ///
  /// - Parameters:
  ///   - otpSecret: The present secret of one-time passwords, 32 bytes.
  ///   - container: The container whose keys are renewed.
  /// - Returns: 32 bytes.
  public static func renewalKey(otpSecret: borrowing SecretBytes, container: ContainerID) -> SecretBytes {
    HKDF.expand(
      otpSecret, info: Array("signet/1 renewal".utf8) + [0] + Array(container.text.utf8), byteCount: 32,
      .sha256)
  }
}
