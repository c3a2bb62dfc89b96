public import SignetCrypto
import SignetJSON

/// A transaction that is carried to a device as a text, and its answer back as digits (`docs/protocol.md` section 5.9).
public struct OfflineTransaction: Hashable, Sendable {
  /// The `typ` of the JWS.
  public static let type = "signet-offline"
  /// The most bytes of the text.
  public static let maximumByteCount = 16_384

  /// Which transaction.
  public let id: TransactionID
  /// What is asked.
  public let content: TransactionContent
  /// When it ends, in seconds since 1970.
  public let expires: Int64
  /// Who asks.
  public let server: ServerURL
  /// Who is asked.
  public let user: UserID
  /// What is answered: the payload's bytes.
  public let bytes: [UInt8]

  /// Puts a transaction together.
  public init(
    id: TransactionID, content: TransactionContent, expires: Int64, server: ServerURL, user: UserID
  ) {
    (self.id, self.content, self.expires, self.server, self.user) = (id, content, expires, server, user)
    let object: JSONObject = [
      "version": .integer(Wire.version), "transaction": .string(id.text), "content": .string(content.json),
      "expires": .integer(expires), "server": .string(server.fullForm), "user": .string(user.text),
    ]
    bytes = JSONValue.object(object).bytes
  }

  /// The text to carry: a JWS by the server's key.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
  public func signed(by key: P256.Signing.PrivateKey) throws(WireFailure) -> String {
    try ES256Message.signed(bytes, by: key, type: Self.type)
  }

  /// What a text says of itself before its signature is verified: for finding the container that it is for.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` for what is no such text.
  public static func claimed(by text: String) throws(WireFailure) -> (server: ServerURL, user: UserID) {
    let transaction = try Self(payload: message(text).unverifiedPayload)
    return (transaction.server, transaction.user)
  }

  /// Verifies a text.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` unless the key signed it, and ``WireFailure`` for what it holds.
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

  /// The answer of who approves: 8 digits, by OCRA (RFC 6287).
  ///
  /// - Parameters:
  ///   - otpSecret: The container's secret of one-time passwords, 32 bytes.
  ///   - container: Whose answer it is.
  /// - Returns: 8 digits.
  public func answer(otpSecret: borrowing SecretBytes, container: ContainerID) -> String {
    CarriedAnswer.digits(
      signing: [Hex.encode(HashFunction.sha256.digest(of: bytes))], suite: "OCRA-1:HOTP-SHA256-8:QH64",
      label: "signet/1 offline", otpSecret: otpSecret, container: container)
  }
}
