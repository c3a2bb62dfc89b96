public import SignetCrypto
import SignetJOSE
import SignetJSON
public import SignetTransport
public import SignetWire

/// What Apple's push service knows an operator by.
public struct APNsCredentials: Sendable {
  /// Signs provider tokens.
  public let key: P256.Signing.PrivateKey
  /// The key's id, 10 characters.
  public let keyID: String
  /// The operator's team, 10 characters.
  public let teamID: String
  /// The app's bundle id.
  public let topic: String

  /// Puts the credentials together.
  public init(key: P256.Signing.PrivateKey, keyID: String, teamID: String, topic: String) {
    (self.key, self.keyID, self.teamID, self.topic) = (key, keyID, teamID, topic)
  }
}

/// Apple Push Notification service, with provider tokens
/// (<https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>).
///
/// The notification names texts of the app (`loc-key`), none of ours, and lets the app change it before it is shown.
public struct APNsDispatcher: PushDispatcher {
  /// Where apps of the store are.
  public static let production = "https://api.push.apple.com"
  /// A provider token is good for an hour, and is to be kept for 20 minutes at least.
  private static let tokenSeconds: Int64 = 50 * 60

  private let credentials: APNsCredentials
  private let base: String
  private let transport: any HTTPTransport
  private let clock: any WallClock
  private let token = BearerToken()

  /// Makes a dispatcher.
  ///
  /// - Parameters:
  ///   - credentials: The operator's.
  ///   - base: ``production``, or the address for apps under development, without a slash at the end.
  ///   - transport: Speaks HTTP/2.
  ///   - clock: For the tokens.
  public init(
    _ credentials: APNsCredentials, base: String = production, over transport: any HTTPTransport,
    clock: any WallClock = SystemWallClock()
  ) {
    (self.credentials, self.base, self.transport, self.clock) = (credentials, base, transport, clock)
  }

  /// Apple's.
  public var service: PushTarget.Service { .apns }

  /// Hands a message over; a provider token that Apple finds too old is made anew, once.
  ///
  /// - Throws: ``PushFailure``.
  public func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
    guard case .apns(let device) = target else { throw .targetNotAllowed }
    for attempt in 1...2 {
      let bearer = try providerToken()
      let answer = try await PushAnswer(to: request(message, device, bearer), over: transport)
      if answer.status == 200 { return }
      let reason = Self.reason(answer)
      switch (answer.status, reason) {
      // Bad tokens are refused with 400, and so is every token where the operator names the wrong topic.
      case (410, _): throw .targetGone
      case (403, "ExpiredProviderToken") where attempt == 1: token.forget(bearer)
      default: throw answer.failure(reason)
      }
    }
    throw .refused(reason: "a fresh provider token counts as expired; check this server's clock")
  }

  private func request(_ message: PushMessage, _ device: [UInt8], _ bearer: String) -> HTTPRequest {
    let alert: JSONObject = ["title-loc-key": "signet.push.title", "loc-key": "signet.push.body"]
    var body: JSONObject = [
      "aps": ["alert": .object(alert), "mutable-content": 1, "sound": "default"],
      "signet": .string(message.envelope),
    ]
    if !message.notification.isEmpty {
      // Apps of other makers look into `aps` for all that is theirs.
      var own: JSONObject = ["mutable-content": 1, "sound": "default"]
      for (name, value) in message.notification.sorted(by: { $0.key < $1.key }) { own[name] = .string(value) }
      body = ["aps": .object(own)]
    }
    return HTTPRequest(
      method: .post, url: "\(base)/3/device/\(Hex.encode(device))",
      headers: [
        ("authorization", "bearer \(bearer)"), ("apns-topic", credentials.topic),
        ("apns-push-type", "alert"), ("apns-priority", "10"),
        ("apns-expiration", String(message.expires)), ("apns-collapse-id", message.topic),
        ("content-type", "application/json"),
      ], body: JSONValue.object(body).bytes)
  }

  private func providerToken() throws(PushFailure) -> String {
    let now = clock.now
    if let current = token.current(at: now) { return current }
    let claims: JSONObject = ["iss": .string(credentials.teamID), "iat": .integer(now)]
    let made: String
    do {
      made = try JWS.sign(
        JSONValue.object(claims).bytes, with: SigningKey(credentials.key, keyID: credentials.keyID))
    } catch { throw .refused(reason: "the key for Apple's service cannot sign: \(error)") }
    token.keep(made, until: now + Self.tokenSeconds)
    return made
  }

  private static func reason(_ answer: PushAnswer) -> String? {
    do { return try JSONObject(parsing: answer.response.body).optionalString("reason") } catch { return nil }
  }
}
