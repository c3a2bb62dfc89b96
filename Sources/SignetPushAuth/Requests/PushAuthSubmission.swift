import SignetCrypto
import SignetJSON
import SignetText

/// What a device has sent to a server: a body that names what it is about, and a token that nobody has checked yet.
public struct PushAuthSubmission: Sendable {
  /// The longest body, in bytes.
  public static let maximumByteCount = 32_768
  /// What our server says to an app that answers a message whose request has ended (`docs/protocol.md` section 15).
  package static let endedReason = "The request has ended."
  /// What it says to an app that is not enrolled, or has another key.
  package static let refusedReason = "The message was not accepted."

  /// What is asked.
  public let action: PushAuthAction
  /// The message that is answered; `nil` for a new device token.
  public let messageID: String?
  /// The mechanism whose token is renewed, as the body names it; `nil` for answers.
  public let mechanismID: String?
  /// The user, where the body names one: `username` of the older apps, `userId` of the newer.
  public let userID: String?
  /// The token as it came, which nobody has checked yet.
  package let token: String

  /// Reads a body.
  ///
  /// - Parameters:
  ///   - body: JSON.
  ///   - action: The parameter `_action`.
  /// - Throws: ``PushAuthFailure``.
  public init(parsing body: [UInt8], for action: PushAuthAction) throws(PushAuthFailure) {
    guard body.count <= Self.maximumByteCount else { throw .malformed(reason: "is too long") }
    let object: JSONObject
    do throws(JSONFailure) { object = try JSONObject(parsing: body) } catch {
      throw .malformed(reason: "is no JSON object")
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

  /// A device that registers.
  ///
  /// - Parameters:
  ///   - key: The shared secret that was in the URI.
  ///   - challenge: The challenge that was in the URI.
  /// - Returns: The name of the mechanism, and the device.
  /// - Throws: ``PushAuthFailure``.
  public func registration(
    with key: PushAuthKey, challenge: [UInt8]
  ) throws(PushAuthFailure) -> (mechanismID: String, device: PushAuthDevice) {
    let claims = PushAuthClaims(try key.claims(of: token))
    try Self.check(claims, key, challenge)
    return (try Self.mechanismID(claims), try Self.device(claims))
  }

  /// An answer to a message.
  ///
  /// - Parameters:
  ///   - key: The shared secret of the mechanism.
  ///   - challenge: The challenge of the message.
  /// - Returns: Whether it is a no, and the number where one was typed.
  /// - Throws: ``PushAuthFailure``.
  public func answer(
    with key: PushAuthKey, challenge: [UInt8]
  ) throws(PushAuthFailure) -> (isDenied: Bool, number: String?) {
    let claims = PushAuthClaims(try key.claims(of: token))
    try Self.check(claims, key, challenge)
    let isDenied: Bool
    switch claims.object["deny"] {
    case nil, .null?, .bool(false)?, .string("false")?: isDenied = false
    // Whatever else stands there was meant as a no; a yes is never guessed.
    default: isDenied = true
    }
    let number: String?
    switch claims.object["challengeResponse"] {
    case .string(let text)? where text.utf8.count <= 32: number = text.trimmed
    case .integer(let whole)?: number = String(whole)
    default: number = nil
    }
    return (isDenied, number)
  }

  /// SHA-256 of the token, by which the same is known when it comes again: nothing in a new device token says when it was made.
  public var digest: [UInt8] { HashFunction.sha256.digest(of: Array(token.utf8)) }

  /// A new device token.
  ///
  /// A registration has all that is asked for here, too; it is told by its response, and refused.
  ///
  /// - Parameter key: The shared secret of the mechanism.
  /// - Returns: The device.
  /// - Throws: ``PushAuthFailure``; where the token names another mechanism than the body, ``PushAuthFailure/unknownMechanism``.
  public func device(with key: PushAuthKey) throws(PushAuthFailure) -> PushAuthDevice {
    let claims = PushAuthClaims(try key.claims(of: token))
    guard !claims.object.contains("response") else {
      throw .invalid("token", reason: "is none of a new device token")
    }
    // The newer apps leave the name to the body; the key is the mechanism's all the same.
    if let named = try claims.optionalText("mechanismUid", named: "mechanismUid"), named != mechanismID {
      throw .unknownMechanism
    }
    return try Self.device(claims)
  }

  /// What a device asks that wants to know what waits for it.
  ///
  /// - Parameter key: The shared secret of the mechanism.
  /// - Returns: What is asked.
  /// - Throws: ``PushAuthFailure``.
  public func waiting(with key: PushAuthKey) throws(PushAuthFailure) -> PushAuthWaiting {
    let claims = try key.claims(of: token)
    guard claims["mechanismUid"] == mechanismID.map({ .string($0) }) else { throw .unknownMechanism }
    guard case .object(let asked)? = claims["waiting"] else { throw .missing("waiting") }
    return try PushAuthWaiting(asked)
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
      throw .invalid("mechanismUid", reason: "has characters that none has")
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

  /// No parts, so that a dump does not show them.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
