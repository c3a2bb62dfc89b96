import SignetCrypto
import SignetJSON
import SignetSystem

/// A request of a device as it arrived at a server: a parsed body with an unverified token.
public struct PushAuthSubmission: Sendable {
  /// The longest body, in bytes.
  public static let maximumByteCount = 32_768
  /// The server's answer to an app that answers a message whose request has ended (`docs/protocol.md` section 15).
  package static let endedReason = "The request has ended."
  /// The server's answer to an app that is not enrolled, or has another key.
  package static let refusedReason = "The message was not accepted."

  /// The requested action.
  public let action: PushAuthAction
  /// The message id of a registration or an answer; `nil` for a new device token.
  public let messageID: String?
  /// The mechanism whose device token is replaced, from the body; `nil` for registrations and answers.
  public let mechanismID: String?
  /// The user, if the body names one: `username` of older apps, `userId` of newer ones.
  public let userID: String?
  /// The token as received, not verified.
  package let token: String

  /// Parses a body.
  ///
  /// - Parameters:
  ///   - body: The JSON text.
  ///   - action: The parameter `_action`.
  /// - Throws: ``PushAuthFailure`` if the body is too long or malformed.
  public init(parsing body: [UInt8], for action: PushAuthAction) throws(PushAuthFailure) {
    guard body.count <= Self.maximumByteCount else { throw .malformed(reason: "is too long") }
    let object: JSONObject
    do throws(JSONFailure) { object = try JSONObject(parsing: body) } catch {
      throw .malformed(reason: "is not a JSON object")
    }
    let members = PushAuthClaims(object)
    self.action = action
    token = try members.text("jwt", named: "jwt", limit: PushAuthDelivery.maximumTokenByteCount)
    let limit = PushAuthDelivery.maximumMessageIDByteCount
    if action == .refresh {
      messageID = nil
      mechanismID = try Self.mechanismID(members)
    } else {
      messageID = try members.text("messageId", named: "messageId", limit: limit)
      mechanismID = nil
    }
    let older = try members.optionalText("username", named: "username", limit: 256)
    let newer = try members.optionalText("userId", named: "userId", limit: 256)
    userID = older ?? newer
  }

  /// Verifies a registration.
  ///
  /// - Parameters:
  ///   - key: The shared secret from the URI.
  ///   - challenge: The challenge from the URI.
  /// - Returns: The id of the mechanism, and the device.
  /// - Throws: ``PushAuthFailure`` if the token or the response does not verify, or a claim is malformed.
  public func registration(
    with key: PushAuthKey, challenge: [UInt8]
  ) throws(PushAuthFailure) -> (mechanismID: String, device: PushAuthDevice) {
    let claims = PushAuthClaims(try key.claims(of: token))
    try Self.check(claims, key, challenge)
    return (try Self.mechanismID(claims), try Self.device(claims))
  }

  /// Verifies an answer to a message.
  ///
  /// - Parameters:
  ///   - key: The shared secret of the mechanism.
  ///   - challenge: The challenge of the message.
  /// - Returns: True for a denial, and the number if one was typed.
  /// - Throws: ``PushAuthFailure`` if the token or the response does not verify.
  public func answer(
    with key: PushAuthKey, challenge: [UInt8]
  ) throws(PushAuthFailure) -> (isDenied: Bool, number: String?) {
    let claims = PushAuthClaims(try key.claims(of: token))
    try Self.check(claims, key, challenge)
    let isDenied: Bool
    switch claims.object["deny"] {
    case nil, .null?, .bool(false)?, .string("false")?: isDenied = false
    // Any other value counts as a denial: an approval is never guessed.
    default: isDenied = true
    }
    let number: String?
    switch claims.object["challengeResponse"] {
    case .string(let text)? where text.utf8.count <= 32: number = text.trimmed
    case .integer(let integer)?: number = String(integer)
    default: number = nil
    }
    return (isDenied, number)
  }

  /// The SHA-256 digest of the token, for detecting replays: a new device token contains no time.
  public var digest: [UInt8] { HashFunction.sha256.digest(of: Array(token.utf8)) }

  /// Verifies a new device token.
  ///
  /// A registration has all claims of a token update too; its claim `response` identifies it, and it is rejected.
  ///
  /// - Parameter key: The shared secret of the mechanism.
  /// - Returns: The device.
  /// - Throws: ``PushAuthFailure``; ``PushAuthFailure/unknownMechanism`` if the token names another mechanism than the body.
  public func device(with key: PushAuthKey) throws(PushAuthFailure) -> PushAuthDevice {
    let claims = PushAuthClaims(try key.claims(of: token))
    guard !claims.object.contains("response") else {
      throw .invalid("token", reason: "is not for a new device token")
    }
    // Newer apps omit the id in the token; the key still belongs to the mechanism.
    if let claimedID = try claims.optionalText("mechanismUid", named: "mechanismUid"),
      claimedID != mechanismID
    {
      throw .unknownMechanism
    }
    return try Self.device(claims)
  }

  /// Verifies a poll for messages.
  ///
  /// - Parameter key: The shared secret of the mechanism.
  /// - Returns: The parameters of the poll.
  /// - Throws: ``PushAuthFailure`` if the token does not verify, names another mechanism or is malformed.
  public func waiting(with key: PushAuthKey) throws(PushAuthFailure) -> PushAuthWaiting {
    let claims = try key.claims(of: token)
    guard claims["mechanismUid"] == mechanismID.map({ .string($0) }) else { throw .unknownMechanism }
    guard case .object(let waitingClaims)? = claims["waiting"] else { throw .missing("waiting") }
    return try PushAuthWaiting(waitingClaims)
  }

  private static func check(
    _ claims: PushAuthClaims, _ key: PushAuthKey, _ challenge: [UInt8]
  ) throws(PushAuthFailure) {
    guard key.isResponse(try claims.text("response", named: "response"), to: challenge) else {
      throw .wrongResponse
    }
  }

  private static func mechanismID(_ claims: PushAuthClaims) throws(PushAuthFailure) -> String {
    let id = try claims.text("mechanismUid", named: "mechanismUid", limit: 128)
    guard id.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw .invalid("mechanismUid", reason: "has characters that are not allowed")
    }
    return id
  }

  private static func device(_ claims: PushAuthClaims) throws(PushAuthFailure) -> PushAuthDevice {
    try PushAuthDevice(
      token: try claims.text("deviceId", named: "deviceId"),
      name: try claims.optionalText("deviceName", named: "deviceName") ?? "",
      platform: try claims.text("deviceType", named: "deviceType").lowercased(),
      service: try claims.text("communicationType", named: "communicationType").lowercased())
  }
}

extension PushAuthSubmission: CustomStringConvertible, CustomReflectable {
  /// The action; never the token.
  public var description: String { "push submission: \(action.rawValue)" }

  /// An empty mirror, so that a dump does not show them.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
