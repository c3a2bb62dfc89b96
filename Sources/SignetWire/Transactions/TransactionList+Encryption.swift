public import SignetCrypto
import SignetJOSE
import SignetJSON

/// What a list of transactions answers: nobody can hand it to another container, or again.
public struct ListAddress: Hashable, Sendable {
  /// Who answers.
  public let server: ServerURL
  /// Who asked.
  public let container: ContainerID
  /// The id of the request, 16 bytes.
  public let request: [UInt8]

  /// Describes an answer.
  public init(server: ServerURL, container: ContainerID, request: [UInt8]) {
    (self.server, self.container, self.request) = (server, container, request)
  }
}

extension TransactionList {
  /// The `typ` of the JWS.
  static let type = "signet-transactions"
  /// base64url makes four characters of three bytes; header and signature are short.
  static let maximumSignedByteCount = Wire.maximumListByteCount / 3 * 4 + 4096

  /// Signs the list and encrypts it to a device: ES256 by the server's key, within ECDH-ES and A256GCM.
  ///
  /// - Parameters:
  ///   - address: What it answers.
  ///   - signer: The server's key.
  ///   - key: The device's.
  /// - Returns: A JWE.
  /// - Throws: ``WireFailure/notAuthentic`` when a key can't be used.
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

/// A list that was decrypted; who sent it is still to be checked.
public struct SealedTransactionList: Sendable {
  private let message: ES256Message
  /// The thumbprint of the key that its sender names.
  public let signer: String

  /// Decrypts an answer.
  ///
  /// - Throws: ``WireFailure/notAuthentic``.
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

  /// The list.
  ///
  /// - Parameters:
  ///   - key: The server's key.
  ///   - address: What it has to answer.
  /// - Returns: What the server said.
  /// - Throws: ``WireFailure/notAuthentic`` where another key signed, or it answers something else.
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
