import SignetCrypto
import SignetJOSE
public import SignetJSON
import SignetText

/// What a push service has delivered: a message id and a signed token, neither of which anybody has checked yet.
///
/// Nothing of it is to be stored or shown but what ``verified(with:)`` gives.
public struct PushAuthDelivery: Sendable {
  /// The longest token, in bytes; push services carry 4 KiB.
  public static let maximumTokenByteCount = 16_384
  /// The longest message id, in bytes.
  public static let maximumMessageIDByteCount = 512
  /// The longest text that is looked at, in bytes.
  public static let maximumByteCount = 32_768

  /// What the answer names: outside of the signed token.
  public let messageID: String
  /// The compact token.
  public let token: String
  /// The mechanism that the token names: only for finding the key, since anybody may have written it.
  public let claimedMechanism: String

  /// Takes a message id and a token that came apart.
  ///
  /// - Parameters:
  ///   - messageID: The message id.
  ///   - token: A compact JWS.
  /// - Throws: ``PushAuthFailure``: what is malformed, or has no mechanism to look up.
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

  /// Takes what Apple's service hands to an app: `aps` with `data` and `messageId`, or these beside it.
  ///
  /// - Parameter userInfo: The whole dictionary.
  /// - Throws: ``PushAuthFailure``.
  public init(userInfo: JSONObject) throws(PushAuthFailure) {
    var merged = userInfo
    if case .object(let inner)? = userInfo["aps"] {
      for member in inner.members { merged.set(member.name, member.value) }
    }
    try self.init(map: merged)
  }

  /// Takes a plain map, as other services hand it over: the token as `data` or `message`, and `messageId`.
  ///
  /// - Parameter map: The members.
  /// - Throws: ``PushAuthFailure``.
  public init(map: JSONObject) throws(PushAuthFailure) {
    guard let token = Self.text(map, "data") ?? Self.text(map, "message") else { throw .missing("data") }
    guard let id = Self.text(map, "messageId") else { throw .missing("message id") }
    try self.init(messageID: id, token: token)
  }

  /// Takes a token alone, which has to claim its message id as `messageId`: without one there is nothing to answer.
  ///
  /// - Parameter token: A compact JWS.
  /// - Throws: ``PushAuthFailure``.
  public init(token: String) throws(PushAuthFailure) {
    let token = token.trimmed
    let claims = try Self.unverifiedClaims(token)
    guard let id = Self.text(claims, "messageId") else { throw .missing("message id") }
    try self.init(messageID: id, token: token)
  }

  /// Takes any of these forms, as text.
  ///
  /// - Parameter text: JSON of a map with or without `aps`, or a token.
  /// - Throws: ``PushAuthFailure``.
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
      throw .malformed(reason: "is no JSON object")
    }
    try self.init(userInfo: object)
  }

  /// The message, once its signature was found to fit.
  ///
  /// - Parameter key: That of the mechanism which ``claimedMechanism`` names.
  /// - Returns: The message.
  /// - Throws: ``PushAuthFailure``.
  public func verified(with key: PushAuthKey) throws(PushAuthFailure) -> PushAuthMessage {
    let claims = try key.claims(of: token)
    // The id lies outside of the token; where the token names one too, nobody on the way has changed it.
    if let signed = Self.text(claims, "messageId"), !signed.utf8.elementsEqual(messageID.utf8) {
      throw .invalid("message id", reason: "is another one than the server has signed")
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
      throw .malformed(reason: "has claims that are no JSON object")
    }
  }
}
