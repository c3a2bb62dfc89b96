package import SignetJSON

/// Which services carry pushes.
///
/// It is the member `push` of `server.json`, of which each member may be left out.
/// ```json
/// {"apns":{"key":"apns.p8","keyID":"…","teamID":"…","topic":"org.example.app"},
///  "fcm":{"account":"fcm.json"},
///  "webPush":{"key":"webpush.pem","contact":"mailto:operator@example.org","hosts":["push.example.org"]},
///  "webhook":{"url":"https://gateway.example.org/push","key":"webhook.pem","keyID":"signet"},
///  "authority":"push-ca.pem"}
/// ```
/// Files are names within the folder, or full paths.
public struct PushSettings: Hashable, Sendable {
  /// Apple's service.
  public struct APNs: Hashable, Sendable {
    /// The file of the key that signs provider tokens, PEM (`.p8`).
    public var key: String
    /// The key's id.
    public var keyID: String
    /// The operator's team.
    public var teamID: String
    /// The app's bundle id.
    public var topic: String
    /// Where Apple's service is; `nil` for that of apps of the store.
    public var url: String?
  }

  /// Google's service.
  public struct FCM: Hashable, Sendable {
    /// The key file of a service account, JSON.
    public var account: String
    /// Where Google's service is; `nil` for the usual one.
    public var url: String?
  }

  /// Web Push and UnifiedPush.
  public struct WebPush: Hashable, Sendable {
    /// The file of the server's key, PEM on P-256.
    public var key: String
    /// How a push service reaches the operator: a `mailto:` or `https:` URL.
    public var contact: String
    /// Where to send; `nil` for the services of the large browsers.
    public var hosts: [String]?
  }

  /// A gateway of the operator's own.
  public struct Webhook: Hashable, Sendable {
    /// Where it is, an `https` URL.
    public var url: String
    /// The file of the key that signs requests, PEM on P-256.
    public var key: String
    /// What the gateway knows the key by.
    public var keyID: String
  }

  /// Apple's service.
  public var apns: APNs?
  /// Google's service.
  public var fcm: FCM?
  /// Web Push and UnifiedPush.
  public var webPush: WebPush?
  /// A gateway of the operator's own.
  public var webhook: Webhook?
  /// Certificates that are trusted in place of the system's, PEM; `nil` for the system's.
  public var authority: String?

  /// No service.
  public init() {}

  /// Reads the settings.
  ///
  /// - Throws: `FolderSettings.Refusal`, `JSONFailure`.
  package init(_ object: JSONObject) throws {
    try FolderSettings.refuseMembers(
      of: object, at: "push", except: ["apns", "fcm", "webPush", "webhook", "authority"])
    if let member = try object.optionalObject("apns") {
      try FolderSettings.refuseMembers(
        of: member, at: "apns", except: ["key", "keyID", "teamID", "topic", "url"])
      apns = APNs(
        key: try Self.file(member, "key"), keyID: try Self.word(member, "keyID"),
        teamID: try Self.word(member, "teamID"), topic: try Self.word(member, "topic"),
        url: try Self.optionalURL(member))
    }
    if let member = try object.optionalObject("fcm") {
      try FolderSettings.refuseMembers(of: member, at: "fcm", except: ["account", "url"])
      fcm = FCM(account: try Self.file(member, "account"), url: try Self.optionalURL(member))
    }
    if let member = try object.optionalObject("webPush") {
      try FolderSettings.refuseMembers(of: member, at: "webPush", except: ["key", "contact", "hosts"])
      webPush = WebPush(
        key: try Self.file(member, "key"), contact: try Self.contact(member),
        hosts: try member.optionalStrings("hosts"))
    }
    if let member = try object.optionalObject("webhook") {
      try FolderSettings.refuseMembers(of: member, at: "webhook", except: ["url", "key", "keyID"])
      guard let url = try Self.optionalURL(member) else {
        throw FolderSettings.Refusal.reason("\"url\" in \"webhook\" is missing")
      }
      webhook = Webhook(url: url, key: try Self.file(member, "key"), keyID: try Self.word(member, "keyID"))
    }
    if object.contains("authority") { authority = try Self.file(object, "authority") }
  }

  /// The settings as `server.json` has them.
  package var json: JSONObject {
    var object = JSONObject()
    if let apns {
      var member: JSONObject = [
        "key": .string(apns.key), "keyID": .string(apns.keyID), "teamID": .string(apns.teamID),
        "topic": .string(apns.topic),
      ]
      if let url = apns.url { member["url"] = .string(url) }
      object["apns"] = .object(member)
    }
    if let fcm {
      var member: JSONObject = ["account": .string(fcm.account)]
      if let url = fcm.url { member["url"] = .string(url) }
      object["fcm"] = .object(member)
    }
    if let webPush {
      var member: JSONObject = ["key": .string(webPush.key), "contact": .string(webPush.contact)]
      if let hosts = webPush.hosts { member["hosts"] = .array(hosts.map { .string($0) }) }
      object["webPush"] = .object(member)
    }
    if let webhook {
      object["webhook"] = [
        "url": .string(webhook.url), "key": .string(webhook.key), "keyID": .string(webhook.keyID),
      ]
    }
    if let authority { object["authority"] = .string(authority) }
    return object
  }

  private static func file(_ object: JSONObject, _ name: String) throws -> String {
    let text = try object.string(name)
    guard FolderSettings.mayNameFile(text) else {
      throw FolderSettings.Refusal.reason(
        "\"\(name)\" in \"push\" is a name within the folder or a full path")
    }
    return text
  }

  private static func word(_ object: JSONObject, _ name: String) throws -> String {
    let text = try object.string(name)
    let isWord = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    guard (1...256).contains(text.utf8.count), isWord else {
      throw FolderSettings.Refusal.reason(
        "\"\(name)\" in \"push\" has 1 to 256 visible ASCII characters, no quotes and backslashes")
    }
    return text
  }

  private static func optionalURL(_ object: JSONObject) throws -> String? {
    guard let text = try object.optionalString("url") else { return nil }
    guard text.hasPrefix("https://"), (9...1_024).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), text.utf8.last != UInt8(ascii: "/")
    else {
      throw FolderSettings.Refusal.reason("\"url\" in \"push\" is an https URL without a slash at its end")
    }
    return text
  }

  private static func contact(_ object: JSONObject) throws -> String {
    let text = try word(object, "contact")
    guard text.hasPrefix("mailto:") || text.hasPrefix("https://") else {
      throw FolderSettings.Refusal.reason("\"contact\" in \"webPush\" is a mailto: or https: URL")
    }
    return text
  }
}
