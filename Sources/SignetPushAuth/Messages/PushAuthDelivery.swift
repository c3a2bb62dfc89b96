import SignetCrypto
import SignetJOSE
public import SignetJSON
import SignetSystem

/// A message from a push service before verification: a message id and a signed token.
///
/// Store and display only the result of ``verified(with:)``.
public struct PushAuthDelivery: Sendable {
  /// The longest token, in bytes; push services deliver 4 KiB.
  public static let maximumTokenByteCount = 16_384
  /// The longest message id, in bytes.
  public static let maximumMessageIDByteCount = 512
  /// The longest accepted text, in bytes.
  public static let maximumByteCount = 32_768

  /// The message id, which the answer contains; it is outside the signed token.
  public let messageID: String
  /// The token, a compact JWS.
  public let token: String
  /// The mechanism that the token claims; not verified, so use it only to find the key.
  public let claimedMechanism: String

  /// Creates a delivery from a message id and a token.
  ///
  /// - Parameters:
  ///   - messageID: The message id.
  ///   - token: A compact JWS.
  /// - Throws: ``PushAuthFailure`` if one of them is malformed, or the token claims no mechanism.
  public init(messageID: String, token: String) throws(PushAuthFailure) {
    let messageID = messageID.trimmed
    guard !messageID.isEmpty else { throw .missing("message id") }
    guard messageID.utf8.count <= Self.maximumMessageIDByteCount, messageID.isPlainText else {
      throw .invalid("message id", reason: "is too long, or has control characters")
    }
    (self.messageID, self.token) = (messageID, token.trimmed)
    let claims = try Self.unverifiedClaims(self.token)
    claimedMechanism = try PushAuthClaims(claims).text("u", named: "mechanism id (u)")
  }

  /// Creates a delivery from the dictionary of Apple's service: `aps` with `data` and `messageId`, or these next to it.
  ///
  /// - Parameter userInfo: The whole dictionary.
  /// - Throws: ``PushAuthFailure`` if a member is missing or malformed.
  public init(userInfo: JSONObject) throws(PushAuthFailure) {
    var merged = userInfo
    if case .object(let inner)? = userInfo["aps"] {
      for member in inner.members { merged.set(member.name, member.value) }
    }
    try self.init(map: merged)
  }

  /// Creates a delivery from the map of other services: the token as `data` or `message`, and `messageId`.
  ///
  /// - Parameter map: The members.
  /// - Throws: ``PushAuthFailure`` if a member is missing or malformed.
  public init(map: JSONObject) throws(PushAuthFailure) {
    guard let token = Self.text(map, "data") ?? Self.text(map, "message") else { throw .missing("data") }
    guard let id = Self.text(map, "messageId") else { throw .missing("message id") }
    try self.init(messageID: id, token: token)
  }

  /// Creates a delivery from a token that claims its message id as `messageId`, which an answer needs.
  ///
  /// - Parameter token: A compact JWS.
  /// - Throws: ``PushAuthFailure`` if the token is malformed or has no message id.
  public init(token: String) throws(PushAuthFailure) {
    let token = token.trimmed
    let claims = try Self.unverifiedClaims(token)
    guard let id = Self.text(claims, "messageId") else { throw .missing("message id") }
    try self.init(messageID: id, token: token)
  }

  /// Creates a delivery from the text of any of these forms.
  ///
  /// - Parameter text: The JSON of a map with or without `aps`, or a token.
  /// - Throws: ``PushAuthFailure`` if the text is none of these forms.
  public init(_ text: String) throws(PushAuthFailure) {
    guard text.utf8.count <= Self.maximumByteCount else { throw .malformed(reason: "is too long") }
    let text = text.trimmed
    guard text.hasPrefix("{") else {
      guard text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 else {
        throw .malformed(reason: "is neither JSON with messageId and data, nor the signed token of one")
      }
      try self.init(token: text)
      return
    }
    let object: JSONObject
    do throws(JSONFailure) { object = try JSONObject(parsing: Array(text.utf8)) } catch {
      throw .malformed(reason: "is not a JSON object")
    }
    try self.init(userInfo: object)
  }

  /// Verifies the token and returns its message.
  ///
  /// - Parameter key: The key of the mechanism in ``claimedMechanism``.
  /// - Returns: The verified message.
  /// - Throws: ``PushAuthFailure`` if the signature does not verify or a claim is malformed.
  public func verified(with key: PushAuthKey) throws(PushAuthFailure) -> PushAuthMessage {
    let claims = try key.claims(of: token)
    // The id is outside the token. If the token claims an id too, a difference shows that it was modified in transit.
    if let signed = Self.text(claims, "messageId"), !signed.hasSameBytes(as: messageID) {
      throw .invalid("message id", reason: "is not the one that the server signed")
    }
    return try PushAuthMessage(
      claims, messageID: messageID, digest: HashFunction.sha256.digest(of: Array(token.utf8)))
  }

  private static func text(_ object: JSONObject, _ name: String) -> String? {
    guard case .string(let text)? = object[name], !text.trimmed.isEmpty else { return nil }
    return text
  }

  private static func unverifiedClaims(_ token: String) throws(PushAuthFailure) -> JSONObject {
    let jws: JWS
    do throws(JOSEFailure) {
      jws = try JWS(compact: token, maximumByteCount: maximumTokenByteCount)
    } catch { throw .token(error) }
    do throws(JSONFailure) { return try JSONObject(parsing: jws.unverifiedPayload) } catch {
      throw .malformed(reason: "has claims that are not a JSON object")
    }
  }
}
