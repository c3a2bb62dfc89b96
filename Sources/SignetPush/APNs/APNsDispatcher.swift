package import SignetCrypto
package import SignetHTTPClient
import SignetJOSE
import SignetJSON
package import SignetProtocol
package import SignetSystem

/// The operator's credentials at Apple's push service.
package struct APNsCredentials: Sendable {
  /// The key that signs provider tokens.
  package let key: P256.Signing.PrivateKey
  /// The id of the key, 10 characters.
  package let keyID: String
  /// The id of the operator's team, 10 characters.
  package let teamID: String
  /// The bundle id of the app.
  package let topic: String

  /// Creates the credentials.
  package init(key: P256.Signing.PrivateKey, keyID: String, teamID: String, topic: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
    self.topic = topic
  }
}

/// A dispatcher for Apple Push Notification service with provider tokens
/// (<https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns>).
///
/// The notification refers to texts of the app (`loc-key`) and contains none, and the app may change it before it is
/// displayed.
package struct APNsDispatcher: PushDispatcher {
  /// The address for apps from the store.
  package static let production = "https://api.push.apple.com"
  /// The lifetime of a provider token, in seconds: Apple accepts it for an hour, and requires its reuse for at least 20
  /// minutes.
  private static let tokenSeconds: Int64 = 50 * 60

  private let credentials: APNsCredentials
  private let base: String
  private let transport: any HTTPTransport
  private let clock: any WallClock
  private let token = BearerToken()

  /// Creates a dispatcher.
  ///
  /// - Parameters:
  ///   - credentials: The operator's credentials.
  ///   - base: ``production``, or the address for apps under development, without a trailing slash.
  ///   - transport: The transport of requests; it must support HTTP/2.
  ///   - clock: The clock for provider tokens.
  package init(
    _ credentials: APNsCredentials, base: String = production, over transport: any HTTPTransport,
    clock: any WallClock = SystemWallClock()
  ) {
    self.credentials = credentials
    self.base = base
    self.transport = transport
    self.clock = clock
  }

  /// The service: `apns`.
  package var service: PushTarget.Service { .apns }

  /// Sends a message; if Apple rejects the provider token as expired, retries once with a new one.
  ///
  /// - Throws: ``PushFailure`` if the message is not accepted.
  package func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
    guard case .apns(let device) = target else { throw .targetNotAllowed }
    for attempt in 1...2 {
      let bearer = try providerToken()
      let response = try await PushServiceResponse(to: request(message, device, bearer), over: transport)
      if response.status == 200 { return }
      let reason = Self.reason(response)
      switch (response.status, reason) {
      // A bad token gets status 400, but so does every token if the operator configured a wrong topic: no target is dropped
      // for it.
      case (410, _): throw .targetGone
      case (403, "ExpiredProviderToken") where attempt == 1: token.invalidate(bearer)
      default: throw response.failure(reason)
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
      // Apps of other vendors read all their data from `aps`.
      var aps: JSONObject = ["mutable-content": 1, "sound": "default"]
      for (name, value) in message.notification.sorted(by: { $0.key < $1.key }) { aps[name] = .string(value) }
      body = ["aps": .object(aps)]
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
    let jwt: String
    do {
      jwt = try JWS.sign(
        JSONValue.object(claims).bytes, with: SigningKey(credentials.key, keyID: credentials.keyID))
    } catch { throw .refused(reason: "the key for Apple's service cannot sign: \(error)") }
    token.store(jwt, until: now + Self.tokenSeconds)
    return jwt
  }

  private static func reason(_ response: PushServiceResponse) -> String? {
    do { return try JSONObject(parsing: response.http.body).optionalString("reason") } catch { return nil }
  }
}
