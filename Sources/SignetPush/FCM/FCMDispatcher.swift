package import SignetCrypto
package import SignetHTTPClient
import SignetJOSE
import SignetJSON
package import SignetProtocol
package import SignetSystem

/// The operator's credentials at Google: a service account from its key file.
package struct FCMServiceAccount: Sendable {
  /// The id of the project.
  package let project: String
  /// The email address of the account.
  package let email: String
  /// The key that signs requests for access tokens.
  package let key: RSA.PrivateKey
  /// The id of the key.
  package let keyID: String
  /// The URL for access tokens.
  package let tokenURL: String

  /// Parses the JSON key file of a service account.
  ///
  /// - Throws: ``PushSettingsFailure`` with the missing or invalid member.
  package init(keyFile: [UInt8]) throws(PushSettingsFailure) {
    do {
      let object = try JSONObject(parsing: keyFile)
      project = try object.string("project_id")
      email = try object.string("client_email")
      keyID = try object.string("private_key_id")
      tokenURL = try object.string("token_uri")
      key = try RSA.PrivateKey(pem: SecretBytes(copying: Array(object.string("private_key").utf8)))
    } catch {
      throw PushSettingsFailure("the key file of the service account cannot be used: \(error)")
    }
    guard !project.isEmpty,
      project.utf8.allSatisfy({ $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) })
    else {
      throw PushSettingsFailure(
        "\"project_id\" in the key file of the service account is not the id of a project")
    }
  }
}

/// The error in the settings of push.
package struct PushSettingsFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error and its location.
  package let description: String

  /// Creates an error.
  package init(_ description: String) { self.description = description }
}

/// A dispatcher for Firebase Cloud Messaging, HTTP v1
/// (<https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages>).
///
/// It uses access tokens of a service account (RFC 7523). The message contains data only, and the app displays its own
/// texts.
package struct FCMDispatcher: PushDispatcher {
  /// The address for messages.
  package static let production = "https://fcm.googleapis.com"
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

  private let account: FCMServiceAccount
  private let base: String
  private let transport: any HTTPTransport
  private let clock: any WallClock
  private let token = BearerToken()

  /// Creates a dispatcher.
  ///
  /// - Parameters:
  ///   - account: The operator's service account.
  ///   - base: ``production``, without a trailing slash.
  ///   - transport: The transport of requests.
  ///   - clock: The clock for access tokens.
  package init(
    _ account: FCMServiceAccount, base: String = production, over transport: any HTTPTransport,
    clock: any WallClock = SystemWallClock()
  ) {
    self.account = account
    self.base = base
    self.transport = transport
    self.clock = clock
  }

  /// The service: `fcm`.
  package var service: PushTarget.Service { .fcm }

  /// Sends a message; if the access token is rejected, retries once with a new one.
  ///
  /// - Throws: ``PushFailure`` if the message is not accepted.
  package func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
    guard case .fcm(let device) = target else { throw .targetNotAllowed }
    for attempt in 1...2 {
      let bearer = try await accessToken()
      let response = try await PushServiceResponse(to: request(message, device, bearer), over: transport)
      if response.status == 200 { return }
      if response.status == 401, attempt == 1 {
        token.invalidate(bearer)
        continue
      }
      let reason = Self.reason(response)
      if reason == "UNREGISTERED" { throw .targetGone }
      throw response.failure(reason)
    }
    throw .refused(reason: "a fresh access token is refused")
  }

  private func request(_ message: PushMessage, _ device: String, _ bearer: String) -> HTTPRequest {
    let seconds = max(0, message.expires - clock.now)
    var data = JSONObject()
    for (name, value) in message.data.sorted(by: { $0.key < $1.key }) { data[name] = .string(value) }
    let fcmMessage: JSONObject = [
      "token": .string(device), "data": .object(data),
      "android": [
        "priority": "HIGH", "ttl": .string("\(seconds)s"), "collapse_key": .string(message.topic),
      ],
    ]
    return HTTPRequest(
      method: .post, url: "\(base)/v1/projects/\(account.project)/messages:send",
      headers: [("Authorization", "Bearer \(bearer)"), ("Content-Type", "application/json")],
      body: JSONValue.object(["message": .object(fcmMessage)]).bytes)
  }

  private func accessToken() async throws(PushFailure) -> String {
    let now = clock.now
    if let current = token.current(at: now) { return current }
    let claims: JSONObject = [
      "iss": .string(account.email), "scope": .string(Self.scope), "aud": .string(account.tokenURL),
      "iat": .integer(now), "exp": .integer(now + 3_600),
    ]
    let assertion: String
    do {
      assertion = try JWS.sign(
        JSONValue.object(claims).bytes, with: SigningKey(rs256: account.key, keyID: account.keyID),
        type: "JWT")
    } catch { throw .refused(reason: "the key of the service account cannot sign: \(error)") }
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    let request = HTTPRequest(
      method: .post, url: account.tokenURL,
      headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
    let response = try await PushServiceResponse(to: request, over: transport)
    guard response.status == 200 else { throw response.failure() }
    let (text, lifetime): (String, Int64)
    do {
      let object = try JSONObject(parsing: response.http.body)
      (text, lifetime) = (try object.string("access_token"), try object.integer("expires_in"))
    } catch { throw .refused(reason: "the answer to the request for an access token is malformed") }
    guard text.utf8.count <= 4_096, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .refused(reason: "the access token is malformed")
    }
    token.store(text, until: now + min(max(lifetime - 60, 0), 86_400))
    return text
  }

  /// Returns FCM's error code, or else the status (<https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode>).
  private static func reason(_ response: PushServiceResponse) -> String? {
    do {
      let error = try JSONObject(parsing: response.http.body).object("error")
      if case .array(let details)? = error["details"] {
        for case .object(let detail) in details {
          if case .string(let code)? = detail["errorCode"] { return code }
        }
      }
      return try error.optionalString("status")
    } catch { return nil }
  }
}
