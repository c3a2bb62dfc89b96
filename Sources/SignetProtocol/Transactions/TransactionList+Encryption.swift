public import SignetCrypto
import SignetJOSE
import SignetJSON

/// The request that a signed answer names, so that an attacker cannot replay the answer or send it to another container.
public struct ListAddress: Hashable, Sendable {
  /// The server that answers.
  public let server: ServerURL
  /// The container that asked.
  public let container: ContainerID
  /// The id of the request, 16 bytes.
  public let request: [UInt8]

  /// Creates an address.
  public init(server: ServerURL, container: ContainerID, request: [UInt8]) {
    self.server = server
    self.container = container
    self.request = request
  }
}

extension TransactionList {
  /// The `typ` of the JWS.
  static let type = "signet-transactions"
  /// The longest JWS: base64url writes three bytes as four characters, and the header and signature are short.
  static let maximumSignedByteCount = Wire.maximumListByteCount / 3 * 4 + 4096

  /// Signs the list with ES256 and the server's key, and encrypts the JWS to a device with ECDH-ES and A256GCM.
  ///
  /// - Parameters:
  ///   - address: The request that the list answers.
  ///   - signer: The server's key.
  ///   - key: The container's encryption key.
  /// - Returns: A compact JWE.
  /// - Throws: ``WireFailure/notAuthentic`` if a key cannot be used.
  public func sealed(
    for address: ListAddress, by signer: P256.Signing.PrivateKey, to key: P256.KeyAgreement.PublicKey
  ) throws(WireFailure) -> String {
    var object: JSONObject = [
      "version": .integer(Wire.version), "server": .string(address.server.fullForm),
      "container": .string(address.container.text), "request": .string(Base64URL.encode(address.request)),
    ]
    for member in json.members { object[member.name] = member.value }
    let jws = try ES256Message.signed(JSONValue.object(object).bytes, by: signer, type: Self.type)
    do {
      return try JWE.encrypt(Array(jws.utf8), for: EncryptionKey(key), .ecdhES, .a256GCM)
    } catch { throw .notAuthentic }
  }
}

/// A decrypted list whose signature is not verified yet.
public struct SealedTransactionList: Sendable {
  private let message: ES256Message
  /// The thumbprint of the signing key that the sender names in `kid`; not verified.
  public let signer: String

  /// Decrypts an answer.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` if decryption fails or the plaintext is no JWS with the right `typ` and a `kid`.
  public init(decrypting jwe: String, with key: P256.KeyAgreement.PrivateKey) throws(WireFailure) {
    let plaintext: [UInt8]
    do {
      let limit = TransactionList.maximumSignedByteCount / 3 * 4 + 4096
      plaintext = try JWE(compact: jwe, maximumByteCount: limit).decrypted(
        with: DecryptionKey(key), allowing: [.ecdhES], [.a256GCM]
      ).plaintext
    } catch { throw .notAuthentic }
    guard let jws = String(validating: plaintext, as: UTF8.self),
      let message = ES256Message(
        jws, type: TransactionList.type, maximumByteCount: TransactionList.maximumSignedByteCount),
      let signer = message.keyID
    else { throw .notAuthentic }
    (self.message, self.signer) = (message, signer)
  }

  /// Verifies and parses the list.
  ///
  /// - Parameters:
  ///   - key: The server's key.
  ///   - address: The request that the list has to answer.
  /// - Returns: The verified list.
  /// - Throws: ``WireFailure/notAuthentic`` if another key signed or the list answers another request; another
  ///   ``WireFailure`` for a malformed list.
  public func list(
    signedBy key: P256.Signing.PublicKey, for address: ListAddress
  ) throws(WireFailure) -> TransactionList {
    guard let payload = message.payload(signedBy: key) else { throw .notAuthentic }
    let object = try Wire.object(payload, maximumByteCount: Wire.maximumListByteCount)
    try Wire.checkVersion(object)
    guard try ServerURL(serverID: object.wireString("server")) == address.server,
      try ContainerID(object.wireString("container")) == address.container,
      constantTimeEqual(try object.wireBytes("request", count: 16), address.request)
    else { throw .notAuthentic }
    return try TransactionList(object)
  }
}
