public import SignetJSON
import SignetSystem

/// A device's request to a server of this protocol: the content for HTTP, without the transport.
public struct PushAuthRequest: Sendable {
  /// The requested action.
  public let action: PushAuthAction
  /// The URL of the endpoint.
  public let url: String
  /// The cookie of the load balancer, as `name=value`; `nil` without one.
  public let cookie: String?
  /// The JSON body.
  public let body: JSONObject

  /// The header field with the protocol version in each request, in addition to `Content-Type`.
  public static let versionHeader = (name: "Accept-API-Version", value: "resource=1.0, protocol=1.0")

  /// The header fields.
  ///
  /// The cookie is sent as `Cookie`. Older apps of this protocol send `Set-Cookie`, which no server reads.
  public var headers: [(name: String, value: String)] {
    var headers = [("Content-Type", "application/json"), Self.versionHeader]
    if let cookie { headers.append(("Cookie", cookie)) }
    return headers
  }

  private init(
    _ action: PushAuthAction, _ endpoints: PushAuthEndpoints, at url: String? = nil, cookie: String?,
    _ body: JSONObject
  ) {
    self.action = action
    self.url = url ?? endpoints[action]
    self.body = body
    // A cookie that could end the header line is invalid, and is not sent.
    let isUsable = cookie.map {
      (1...4096).contains($0.utf8.count) && $0.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
    self.cookie = isUsable == true ? cookie?.trimmed : nil
  }

  /// Creates the registration of a device.
  ///
  /// - Parameters:
  ///   - mechanismID: The new id of the mechanism.
  ///   - messageID: The parameter `m`.
  ///   - challenge: The parameter `c`, decoded.
  ///   - device: The device.
  ///   - endpoints: The endpoints of the server.
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

  /// Creates the answer to a message.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - message: The message to answer.
  ///   - endpoints: The endpoints of the server.
  ///   - key: The shared secret.
  /// - Returns: The request.
  /// - Throws: ``PushAuthFailure`` for an answer that the message does not accept.
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

  /// Creates the update of a device token.
  ///
  /// - Parameters:
  ///   - mechanismID: The id of the mechanism.
  ///   - userID: The server's id of the user, if it is known.
  ///   - device: The device with its new token.
  ///   - endpoints: The endpoints of the server.
  ///   - cookie: The parameter `l` of the registration, decoded.
  ///   - id: The claim `jti`, with which a server detects a replayed request; other servers ignore it.
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

  /// Creates the poll of a mechanism that receives no pushes.
  ///
  /// - Parameters:
  ///   - mechanismID: The id of the mechanism.
  ///   - waiting: The parameters of the poll.
  ///   - endpoints: The endpoints of the server.
  ///   - cookie: The parameter `l` of the registration, decoded.
  ///   - key: The shared secret.
  /// - Returns: The request; it has the form of a token update, but its token is not valid as one.
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

  /// An empty mirror, so that a dump does not show them.
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
