public import SignetJSON
import SignetText

/// A request of a device to a server of this protocol: what goes over HTTP, without the transport.
public struct PushAuthRequest: Sendable {
  /// What is asked.
  public let action: PushAuthAction
  /// Where to.
  public let url: String
  /// The cookie of the load balancer, as `name=value`; `nil` without one.
  public let cookie: String?
  /// The members of the body.
  public let body: JSONObject

  /// Beside `Content-Type`, what each request says of the version of the protocol.
  public static let versionHeader = (name: "Accept-API-Version", value: "resource=1.0, protocol=1.0")

  /// The header fields.
  ///
  /// The cookie goes as `Cookie`, where the older apps of this protocol send `Set-Cookie`, which no server reads.
  public var headers: [(name: String, value: String)] {
    var headers = [("Content-Type", "application/json"), Self.versionHeader]
    if let cookie { headers.append(("Cookie", cookie)) }
    return headers
  }

  private init(
    _ action: PushAuthAction, _ endpoints: PushAuthEndpoints, at url: String? = nil, cookie: String?,
    _ body: JSONObject
  ) {
    (self.action, self.url, self.body) = (action, url ?? endpoints[action], body)
    // What could end the line is no cookie of anybody's.
    let isUsable = cookie.map {
      (1...4096).contains($0.utf8.count) && $0.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
    self.cookie = isUsable == true ? cookie?.trimmed : nil
  }

  /// Registers a device.
  ///
  /// - Parameters:
  ///   - mechanismID: What the mechanism is called from now on.
  ///   - messageID: The parameter `m`.
  ///   - challenge: The parameter `c`, decoded.
  ///   - device: The device.
  ///   - endpoints: Where to.
  ///   - cookie: The parameter `l`, decoded.
  ///   - key: The shared secret.
  /// - Returns: The request.
  public static func registration(
    of mechanismID: String, messageID: String, challenge: [UInt8], device: PushAuthDevice,
    at endpoints: PushAuthEndpoints, cookie: String?, key: PushAuthKey
  ) -> PushAuthRequest {
    var claims: JSONObject = [
      "response": .string(key.response(to: challenge)), "mechanismUid": .string(mechanismID),
    ]
    claims.add(device)
    return PushAuthRequest(
      .register, endpoints, cookie: cookie,
      ["messageId": .string(messageID), "jwt": .string(key.sign(claims))])
  }

  /// Answers a message.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - message: What is answered.
  ///   - endpoints: Where to.
  ///   - key: The shared secret.
  /// - Returns: The request.
  /// - Throws: ``PushAuthFailure`` for an answer that the message does not take.
  public static func answer(
    _ answer: PushAuthAnswer, to message: PushAuthMessage, at endpoints: PushAuthEndpoints, key: PushAuthKey
  ) throws(PushAuthFailure) -> PushAuthRequest {
    let number = try answer.checked(for: message.kind)
    var claims: JSONObject = ["response": .string(key.response(to: message.challenge))]
    if answer == .deny { claims["deny"] = true }
    claims["challengeResponse"] = number.map { .string($0) }
    return PushAuthRequest(
      .authenticate, endpoints, cookie: message.loadBalancer,
      ["messageId": .string(message.messageID), "jwt": .string(key.sign(claims))])
  }

  /// Tells a new device token.
  ///
  /// - Parameters:
  ///   - mechanismID: The mechanism.
  ///   - userID: The server's name of the user, where it is known.
  ///   - device: The device with its new token.
  ///   - endpoints: Where to.
  ///   - cookie: The parameter `l` of the registration, decoded.
  ///   - id: Goes into the claim `jti`, by which a server tells a request from another one's copy; other servers ignore it.
  ///   - key: The shared secret.
  /// - Returns: The request.
  public static func update(
    of mechanismID: String, userID: String?, device: PushAuthDevice, at endpoints: PushAuthEndpoints,
    cookie: String?, id: String? = nil, key: PushAuthKey
  ) -> PushAuthRequest {
    var claims: JSONObject = ["mechanismUid": .string(mechanismID)]
    claims["jti"] = id.map { .string($0) }
    claims.add(device)
    var body: JSONObject = ["mechanismUid": .string(mechanismID), "jwt": .string(key.sign(claims))]
    body["username"] = userID.map { .string($0) }
    return PushAuthRequest(.refresh, endpoints, cookie: cookie, body)
  }

  /// Asks what waits for a mechanism, as nothing is pushed to it.
  ///
  /// - Parameters:
  ///   - mechanismID: The mechanism.
  ///   - waiting: What is asked.
  ///   - endpoints: Where to.
  ///   - cookie: The parameter `l` of the registration, decoded.
  ///   - key: The shared secret.
  /// - Returns: The request, of the form of a new device token, which its token is none of.
  public static func waiting(
    of mechanismID: String, _ waiting: PushAuthWaiting, at endpoints: PushAuthEndpoints, cookie: String?,
    key: PushAuthKey
  ) -> PushAuthRequest {
    let claims: JSONObject = [
      "mechanismUid": .string(mechanismID), "waiting": .object(waiting.json),
    ]
    return PushAuthRequest(
      .refresh, endpoints, at: endpoints.waiting, cookie: cookie,
      ["mechanismUid": .string(mechanismID), "jwt": .string(key.sign(claims))])
  }
}

extension PushAuthRequest: CustomStringConvertible, CustomReflectable {
  /// The action; never the token or the cookie.
  public var description: String { "push request: \(action.rawValue)" }

  /// No parts, so that a dump does not show them.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension JSONObject {
  fileprivate mutating func add(_ device: PushAuthDevice) {
    self["deviceId"] = .string(device.token)
    self["deviceName"] = .string(device.name)
    self["deviceType"] = .string(device.platform)
    self["communicationType"] = .string(device.service)
  }
}
