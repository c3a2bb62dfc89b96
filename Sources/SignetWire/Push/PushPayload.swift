public import SignetCrypto
import SignetJOSE
import SignetJSON

/// What a push says, encrypted to the device: that something waits, never what (`docs/protocol.md` section 10).
public struct PushPayload: Hashable, Sendable {
  /// The `typ` of the JWE.
  public static let type = "signet-push"
  /// The most characters of an encrypted payload: what every push service carries.
  public static let maximumByteCount = 3_072

  /// Which server has something.
  public let server: ServerURL
  /// For which of the device's containers.
  public let container: ContainerID
  /// The transaction that waits.
  public let transaction: TransactionID

  /// Says what waits where.
  public init(server: ServerURL, container: ContainerID, transaction: TransactionID) {
    (self.server, self.container, self.transaction) = (server, container, transaction)
  }

  /// Encrypts the payload to a device: ECDH-ES, A256GCM; `kid` is the container's id, which says which key opens it.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
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

  /// The container to which a push says that it is encrypted; `nil` for anything but a push of ours.
  ///
  /// Anyone may have written it: it is for finding the key, not for acting on it.
  public static func unverifiedContainer(of text: String) -> ContainerID? {
    do {
      let jwe = try JWE(compact: text, maximumByteCount: maximumByteCount)
      guard jwe.header.type == type, let id = jwe.header.keyID else { return nil }
      return try ContainerID(id)
    } catch { return nil }
  }

  /// Decrypts a push.
  ///
  /// - Throws: ``WireFailure``; ``WireFailure/notAuthentic`` where it is for another key, or about another container than it is
  ///   encrypted to.
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
