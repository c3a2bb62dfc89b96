public import SignetCrypto
import SignetJSON
import SignetOATH

/// A transaction carried to a device as text, with the response carried back as digits (`docs/protocol.md` section 5.9).
public struct OfflineTransaction: Hashable, Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-offline"
  /// The longest text, in bytes.
  public static let maximumByteCount = 16_384

  /// The id of the transaction.
  public let id: TransactionID
  /// The content to decide.
  public let content: TransactionContent
  /// The time at which the transaction expires, in seconds since 1970.
  public let expires: Int64
  /// The server id.
  public let server: ServerURL
  /// The user who decides.
  public let user: UserID
  /// The payload of the JWS: the bytes that the response covers.
  public let bytes: [UInt8]

  /// Creates a transaction.
  public init(
    id: TransactionID, content: TransactionContent, expires: Int64, server: ServerURL, user: UserID
  ) {
    self.id = id
    self.content = content
    self.expires = expires
    self.server = server
    self.user = user
    let object: JSONObject = [
      "version": .integer(Wire.version), "transaction": .string(id.text), "content": .string(content.json),
      "expires": .integer(expires), "server": .string(server.fullForm), "user": .string(user.text),
    ]
    bytes = JSONValue.object(object).bytes
  }

  /// Signs the transaction as the text to carry: a JWS by the server's key.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` if the key cannot be used.
  public func signed(by key: P256.Signing.PrivateKey) throws(WireFailure) -> String {
    try ES256Message.signed(bytes, by: key, type: Self.type)
  }

  /// Returns the server and the user that a text names before verification, to find the container.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` for a text that is no such JWS; another ``WireFailure`` for a malformed payload.
  public static func claimed(by text: String) throws(WireFailure) -> (server: ServerURL, user: UserID) {
    let transaction = try Self(payload: message(text).unverifiedPayload)
    return (transaction.server, transaction.user)
  }

  /// Verifies and parses a text.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` if the key did not sign it; another ``WireFailure`` for a malformed payload.
  public init(verifying text: String, signedBy key: P256.Signing.PublicKey) throws(WireFailure) {
    guard let payload = try Self.message(text).payload(signedBy: key) else { throw .notAuthentic }
    try self.init(payload: payload)
  }

  private static func message(_ text: String) throws(WireFailure) -> ES256Message {
    guard let message = ES256Message(text, type: type, maximumByteCount: maximumByteCount) else {
      throw .notAuthentic
    }
    return message
  }

  private init(payload: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(payload)
    try Wire.checkVersion(object)
    id = try TransactionID(object.wireString("transaction"))
    content = try TransactionContent(parsing: object.wireString("content"))
    expires = try object.wireInteger("expires")
    server = try ServerURL(serverID: object.wireString("server"))
    user = try UserID(object.wireString("user"))
    bytes = payload
  }

  /// Computes the response that approves the transaction, with OCRA (RFC 6287).
  ///
  /// - Parameters:
  ///   - otpSecret: The container's one-time password secret, 32 bytes.
  ///   - container: The container that responds.
  /// - Returns: The response, 8 digits.
  public func answer(otpSecret: borrowing SecretBytes, container: ContainerID) -> String {
    OfflineResponse.digits(
      signing: [Hex.encode(HashFunction.sha256.digest(of: bytes))], suite: "OCRA-1:HOTP-SHA256-8:QH64",
      label: "signet/1 offline", otpSecret: otpSecret, container: container)
  }
}

/// The response digits of a device to a transaction that the user carries to it: OCRA (RFC 6287) with a key per kind.
enum OfflineResponse {
  /// Computes the response.
  ///
  /// - Parameters:
  ///   - fields: The signed fields; not empty.
  ///   - suite: An OCRA suite whose only input is a challenge.
  ///   - label: The unique label of this kind for the key derivation.
  ///   - otpSecret: The container's one-time password secret, 32 bytes.
  ///   - container: The container that responds.
  /// - Returns: The response, with the suite's number of digits.
  static func digits(
    signing fields: [String], suite: String, label: String, otpSecret: borrowing SecretBytes,
    container: ContainerID
  ) -> String {
    let key = HKDF.expand(
      otpSecret, info: Array(label.utf8) + [0] + Array(container.text.utf8), byteCount: 32, .sha256)
    do throws(OCRAFailure) {
      let suite = try OCRASuite(suite)
      return try OCRA(secret: key, suite: suite).response(to: OCRAChallenge(signing: fields, for: suite))
    } catch { preconditionFailure("a suite and a question of fixed form are refused: \(error)") }
  }
}
