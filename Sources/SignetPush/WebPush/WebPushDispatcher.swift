package import SignetCrypto
package import SignetHTTPClient
import SignetJOSE
import SignetJSON
package import SignetProtocol
package import SignetSystem

/// The push services to which a server sends.
///
/// Devices supply the endpoint. A server that sent to any endpoint would give attackers access to its internal network, so
/// it sends only to hosts that the operator allows.
package struct WebPushHosts: Hashable, Sendable {
  /// The push services of the major browsers.
  package static let browsers = WebPushHosts([
    "fcm.googleapis.com", "updates.push.services.mozilla.com", "*.push.apple.com", "*.notify.windows.com",
  ])

  private let patterns: [String]

  /// Creates a list of allowed hosts.
  ///
  /// - Parameter patterns: Host names in lower case, with a port if it is not 443; a leading `*.` matches any subdomain.
  package init(_ patterns: [String]) { self.patterns = patterns }

  /// Indicates whether messages may go to a host in the form of ``SignetProtocol/WebPushSubscription/authority``.
  package func allows(_ host: String) -> Bool {
    patterns.contains { pattern in
      pattern.hasPrefix("*.")
        ? host.hasSuffix(pattern.dropFirst()) && host.count > pattern.count - 1 : host == pattern
    }
  }
}

/// A dispatcher for Web Push (RFC 8030) with encryption (RFC 8291) and server identification (RFC 8292), also for
/// UnifiedPush.
package struct WebPushDispatcher: PushDispatcher {
  /// The lifetime of a token, in seconds; the limit is a day (RFC 8292 section 2).
  private static let tokenSeconds: Int64 = 12 * 3_600

  private let key: P256.Signing.PrivateKey
  private let contact: String
  private let hosts: WebPushHosts
  private let transport: any HTTPTransport
  private let clock: any WallClock
  private let random: any RandomSource

  /// Creates a dispatcher.
  ///
  /// - Parameters:
  ///   - key: The application server's key, which devices use to subscribe.
  ///   - contact: The operator's contact for push services: a `mailto:` or `https:` URL.
  ///   - hosts: The allowed hosts.
  ///   - transport: The transport of requests.
  ///   - clock: The clock for tokens.
  ///   - random: The source of salts.
  package init(
    key: P256.Signing.PrivateKey, contact: String, hosts: WebPushHosts = .browsers,
    over transport: any HTTPTransport, clock: any WallClock = SystemWallClock(),
    random: any RandomSource = SystemRandomSource()
  ) {
    self.key = key
    self.contact = contact
    self.hosts = hosts
    self.transport = transport
    self.clock = clock
    self.random = random
  }

  /// The service: `webPush`.
  package var service: PushTarget.Service { .webPush }

  /// The application server's public key.
  package var subscriptionKey: [UInt8]? { key.publicKey.x963Representation }

  /// Allows the hosts that the operator configured.
  package func mayCarry(_ target: PushTarget) -> Bool {
    guard case .webPush(let subscription) = target else { return false }
    return hosts.allows(subscription.authority)
  }

  /// Sends a message.
  ///
  /// - Throws: ``PushFailure`` if the message is not accepted.
  package func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
    guard case .webPush(let subscription) = target, mayCarry(target) else {
      throw .targetNotAllowed
    }
    let envelope = Array(message.envelope.utf8)
    guard envelope.count <= WebPushEncryption.maximumByteCount else {
      throw .refused(reason: "the message is too long for Web Push")
    }
    let body: [UInt8]
    let token: String
    do throws(CryptoFailure) {
      body = try WebPushEncryption.encrypt(
        envelope, to: subscription, sender: P256.KeyAgreement.PrivateKey(), salt: random.bytes(16))
    } catch { throw .refused(reason: error.description) }
    do throws(JOSEFailure) { token = try self.token(for: subscription.origin) } catch {
      throw .refused(reason: "the key for Web Push cannot sign: \(error)")
    }
    let publicKey = Base64URL.encode(key.publicKey.x963Representation)
    let request = HTTPRequest(
      method: .post, url: subscription.endpoint,
      headers: [
        ("Authorization", "vapid t=\(token), k=\(publicKey)"), ("Content-Encoding", "aes128gcm"),
        ("Content-Type", "application/octet-stream"), ("TTL", String(max(0, message.expires - clock.now))),
        ("Urgency", "high"), ("Topic", message.topic),
      ], body: body)
    let response = try await PushServiceResponse(to: request, over: transport)
    switch response.status {
    case 200, 201, 202, 204: return
    case 404, 410: throw .targetGone  // RFC 8030 section 7.3
    default: throw response.failure()
    }
  }

  private func token(for origin: String) throws(JOSEFailure) -> String {
    let claims: JSONObject = [
      "aud": .string(origin), "exp": .integer(clock.now + Self.tokenSeconds), "sub": .string(contact),
    ]
    return try JWS.sign(JSONValue.object(claims).bytes, with: SigningKey(key), type: "JWT")
  }
}
