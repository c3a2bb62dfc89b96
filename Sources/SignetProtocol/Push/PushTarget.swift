public import SignetCrypto
import SignetHTTPClient
public import SignetJSON

/// The destination of pushes for a container (`docs/protocol.md` section 10).
///
/// A device supplies its own target: its content is a claim of that device, and the server must not trust it.
public enum PushTarget: Hashable, Sendable {
  /// A device token of Apple's push service, 1 to 100 bytes.
  case apns(token: [UInt8])
  /// A registration token of Firebase Cloud Messaging, 1 to 4,096 visible ASCII characters.
  case fcm(token: String)
  /// A subscription of Web Push or UnifiedPush.
  case webPush(WebPushSubscription)
  /// The device's address at the operator's own gateway, 1 to 512 visible ASCII characters.
  case webhook(address: String)

  /// The push services by their names in the protocol.
  public enum Service: String, Hashable, Sendable, CaseIterable {
    /// Apple Push Notification service.
    case apns
    /// Firebase Cloud Messaging.
    case fcm
    /// Web Push (RFC 8030) and UnifiedPush.
    case webPush = "webpush"
    /// A gateway that the operator runs.
    case webhook

    /// The members of a target other than `service`, each with its JSON Schema, for the description of the API.
    package var members: JSONObject {
      switch self {
      case .apns: ["token": ["type": "string"]]
      case .fcm: ["token": PushTarget.schema(PushTarget.tokenLengths)]
      case .webPush: WebPushSubscription.members
      case .webhook: ["address": PushTarget.schema(PushTarget.addressLengths)]
      }
    }
  }

  /// The service that carries the push.
  public var service: Service {
    switch self {
    case .apns: .apns
    case .fcm: .fcm
    case .webPush: .webPush
    case .webhook: .webhook
    }
  }

  /// Parses a target.
  ///
  /// - Throws: ``WireFailure`` for an unknown service or a malformed member.
  public init(_ object: JSONObject) throws(WireFailure) {
    guard let service = Service(rawValue: try object.wireName("service")) else {
      throw .invalid(member: "service", reason: "is not defined by the protocol")
    }
    switch service {
    case .apns:
      let token = try object.wireBytes("token", count: nil)
      guard (1...100).contains(token.count) else {
        throw .invalid(member: "token", reason: "must have 1 to 100 bytes")
      }
      self = .apns(token: token)
    case .fcm: self = .fcm(token: try Self.visible(object, "token", Self.tokenLengths))
    case .webPush: self = .webPush(try WebPushSubscription(object))
    case .webhook: self = .webhook(address: try Self.visible(object, "address", Self.addressLengths))
    }
  }

  /// The target in its JSON form.
  public var json: JSONObject {
    var object: JSONObject = ["service": .string(service.rawValue)]
    switch self {
    case .apns(let token): object["token"] = .string(Base64URL.encode(token))
    case .fcm(let token): object["token"] = .string(token)
    case .webPush(let subscription): subscription.write(to: &object)
    case .webhook(let address): object["address"] = .string(address)
    }
    return object
  }

  private static let tokenLengths = 1...4_096
  private static let addressLengths = 1...512

  private static func schema(_ lengths: ClosedRange<Int>) -> JSONValue {
    [
      "type": "string", "minLength": .integer(Int64(lengths.lowerBound)),
      "maxLength": .integer(Int64(lengths.upperBound)),
    ]
  }

  private static func visible(
    _ object: JSONObject, _ name: String, _ range: ClosedRange<Int>
  ) throws(WireFailure) -> String {
    let text = try object.wireString(name)
    guard range.contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .invalid(
        member: name, reason: "must have \(range.lowerBound) to \(range.upperBound) visible ASCII characters")
    }
    return text
  }
}

/// A subscription of Web Push (RFC 8030 section 4, RFC 8291 section 2).
public struct WebPushSubscription: Hashable, Sendable {
  private static let maximumEndpointLength = 1_024
  /// The members, each with its JSON Schema.
  fileprivate static let members: JSONObject = [
    "endpoint": ["type": "string", "maxLength": .integer(Int64(maximumEndpointLength))],
    "p256dh": ["type": "string"], "auth": ["type": "string"],
  ]

  /// The push resource: an absolute `https` URL of at most 1,024 ASCII characters.
  public let endpoint: String
  /// The key to which messages are encrypted, `p256dh`.
  public let key: P256.KeyAgreement.PublicKey
  /// The authentication secret, 16 bytes, `auth`.
  public let secret: [UInt8]
  private let url: HTTPSURL

  /// Creates a subscription.
  ///
  /// - Throws: ``WireFailure/invalid(member:reason:)`` for an invalid endpoint or a secret of another length.
  public init(
    endpoint: String, key: P256.KeyAgreement.PublicKey, secret: [UInt8]
  ) throws(WireFailure) {
    guard let url = Self.url(endpoint) else {
      throw .invalid(
        member: "endpoint",
        reason: "must be an absolute https URL of at most \(Self.maximumEndpointLength) characters")
    }
    guard secret.count == 16 else { throw .invalid(member: "auth", reason: "must have 16 bytes") }
    self.url = url
    self.endpoint = endpoint
    self.key = key
    self.secret = secret
  }

  init(_ object: JSONObject) throws(WireFailure) {
    let point = try object.wireBytes("p256dh", count: 65)
    let key: P256.KeyAgreement.PublicKey
    do { key = try P256.KeyAgreement.PublicKey(x963: point) } catch {
      throw .invalid(member: "p256dh", reason: "is not a point of P-256")
    }
    try self.init(
      endpoint: object.wireString("endpoint"), key: key, secret: object.wireBytes("auth", count: 16))
  }

  func write(to object: inout JSONObject) {
    object["endpoint"] = .string(endpoint)
    object["p256dh"] = .string(Base64URL.encode(key.x963Representation))
    object["auth"] = .string(Base64URL.encode(secret))
  }

  /// The endpoint's host in lower case, with its port if that is not 443.
  public var authority: String { url.port == 443 ? url.host : "\(url.host):\(url.port)" }

  /// The endpoint's scheme, host and port: the audience of a token for the push service (RFC 8292 section 2).
  public var origin: String { url.origin }

  /// Returns the parts of an absolute `https` URL with a DNS name or an IPv4 address; `nil` for any other.
  private static func url(_ text: String) -> HTTPSURL? {
    guard text.utf8.count <= maximumEndpointLength, text.hasPrefix("https://"), let url = HTTPSURL(text),
      url.host.utf8.allSatisfy(isHostCharacter)
    else { return nil }
    return url
  }

  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
