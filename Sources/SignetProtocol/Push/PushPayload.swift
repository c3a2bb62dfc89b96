public import SignetCrypto
import SignetJOSE
import SignetJSON

/// The content of a push, encrypted to the device: that a transaction waits, not its content (`docs/protocol.md` section
/// 10).
public struct PushPayload: Hashable, Sendable {
  /// The `typ` of the JWE.
  public static let type = "signet-push"
  /// The largest encrypted payload, in bytes: the size that every push service carries.
  public static let maximumByteCount = 3_072

  /// The server that has the transaction.
  public let server: ServerURL
  /// The container that can decide the transaction.
  public let container: ContainerID
  /// The transaction that is waiting.
  public let transaction: TransactionID

  /// Creates a payload.
  public init(server: ServerURL, container: ContainerID, transaction: TransactionID) {
    self.server = server
    self.container = container
    self.transaction = transaction
  }

  /// Encrypts the payload to a device with ECDH-ES and A256GCM; `kid` is the container id, by which the device finds its
  /// key.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` if the key cannot be used.
  public func encrypted(to key: P256.KeyAgreement.PublicKey) throws(WireFailure) -> String {
    var object = JSONObject()
    object["version"] = .integer(Wire.version)
    object["server"] = .string(server.fullForm)
    object["container"] = .string(container.text)
    object["transaction"] = .string(transaction.text)
    do {
      return try JWE.encrypt(
        JSONValue.object(object).bytes, for: EncryptionKey(key, keyID: container.text), .ecdhES, .a256GCM,
        type: Self.type)
    } catch { throw .notAuthentic }
  }

  /// Returns the container that a push names in `kid`; `nil` for any other text.
  ///
  /// It is not authenticated: use it to find the key only.
  public static func unverifiedContainer(of text: String) -> ContainerID? {
    do {
      let jwe = try JWE(compact: text, maximumByteCount: maximumByteCount)
      guard jwe.header.type == type, let id = jwe.header.keyID else { return nil }
      return try ContainerID(id)
    } catch { return nil }
  }

  /// Decrypts a push.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` if decryption fails or the payload names another container than `kid`; another
  ///   ``WireFailure`` for a malformed payload.
  public init(decrypting text: String, with key: P256.KeyAgreement.PrivateKey) throws(WireFailure) {
    let plaintext: [UInt8]
    do {
      plaintext = try JWE(compact: text, maximumByteCount: Self.maximumByteCount).decrypted(
        with: DecryptionKey(key), allowing: [.ecdhES], [.a256GCM]
      ).plaintext
    } catch { throw .notAuthentic }
    let object = try Wire.object(plaintext, maximumByteCount: Self.maximumByteCount)
    try Wire.checkVersion(object)
    server = try ServerURL(serverID: object.wireString("server"))
    container = try ContainerID(object.wireString("container"))
    transaction = try TransactionID(object.wireString("transaction"))
    guard container == Self.unverifiedContainer(of: text) else { throw .notAuthentic }
  }
}
