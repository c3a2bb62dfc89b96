import SignetCrypto
package import SignetJSON
import SignetPush
import SignetTransport

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

  /// The files that they name.
  var files: [String] {
    [apns?.key, fcm?.account, webPush?.key, webhook?.key, authority].compactMap(\.self)
  }

  /// The services, by their members.
  private static let services = [
    Service("apns", \.apns), Service("fcm", \.fcm), Service("webPush", \.webPush),
    Service("webhook", \.webhook),
  ]

  /// Reads the settings.
  ///
  /// - Throws: `FolderSettings.Refusal`, `JSONFailure`.
  package init(_ object: JSONObject) throws {
    try FolderSettings.refuseMembers(
      of: object, at: "push", except: Self.services.map(\.name) + ["authority"])
    for service in Self.services { try service.read(object, &self) }
    if object.contains("authority") { authority = try Self.file(object, "authority") }
  }

  /// The settings as `server.json` has them.
  package var json: JSONObject {
    var object = JSONObject()
    for service in Self.services { object[service.name] = service.json(self).map { .object($0) } }
    if let authority { object["authority"] = .string(authority) }
    return object
  }

  /// What hands messages to the services that are set up.
  ///
  /// - Parameters:
  ///   - folder: Where their files are.
  ///   - transport: Carries the messages.
  /// - Returns: One for each service.
  /// - Throws: ``ServerFolderFailure``.
  func dispatchers(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> [any PushDispatcher] {
    var dispatchers: [any PushDispatcher] = []
    for service in Self.services {
      if let one = try service.dispatcher(self, folder, transport) { dispatchers.append(one) }
    }
    return dispatchers
  }

  fileprivate static func file(_ object: JSONObject, _ name: String) throws -> String {
    let text = try object.string(name)
    guard FolderSettings.mayNameFile(text) else {
      throw FolderSettings.Refusal.reason(
        "\"\(name)\" in \"push\" is a name within the folder or a full path")
    }
    return text
  }

  fileprivate static func word(_ object: JSONObject, _ name: String) throws -> String {
    let text = try object.string(name)
    let isWord = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    guard (1...256).contains(text.utf8.count), isWord else {
      throw FolderSettings.Refusal.reason(
        "\"\(name)\" in \"push\" has 1 to 256 visible ASCII characters, no quotes and backslashes")
    }
    return text
  }

  fileprivate static func optionalURL(_ object: JSONObject) throws -> String? {
    guard let text = try object.optionalString("url") else { return nil }
    guard text.hasPrefix("https://"), (9...1_024).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), text.utf8.last != UInt8(ascii: "/")
    else {
      throw FolderSettings.Refusal.reason("\"url\" in \"push\" is an https URL without a slash at its end")
    }
    return text
  }
}

/// What `server.json` says of a service, and what hands messages to the service by it.
private protocol PushServiceSettings: Sendable {
  /// The members that there may be.
  static var members: [String] { get }

  /// Reads them.
  ///
  /// - Throws: `FolderSettings.Refusal`, `JSONFailure`.
  init(_ object: JSONObject) throws

  /// The settings as `server.json` has them.
  var json: JSONObject { get }

  /// What hands messages over, with the keys that the settings name.
  func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher
}

/// A service as the settings of push have it.
private struct Service: Sendable {
  let name: String
  let read: @Sendable (JSONObject, inout PushSettings) throws -> Void
  let json: @Sendable (PushSettings) -> JSONObject?
  let dispatcher:
    @Sendable (PushSettings, ServerFolder, any HTTPTransport) throws(ServerFolderFailure) ->
      (any PushDispatcher)?

  init<Settings: PushServiceSettings>(
    _ name: String, _ path: any WritableKeyPath<PushSettings, Settings?> & Sendable
  ) {
    self.name = name
    read = { object, settings in
      guard let member = try object.optionalObject(name) else { return }
      try FolderSettings.refuseMembers(of: member, at: name, except: Settings.members)
      settings[keyPath: path] = try Settings(member)
    }
    json = { $0[keyPath: path]?.json }
    dispatcher = { (settings, folder, transport) throws(ServerFolderFailure) in
      try settings[keyPath: path]?.dispatcher(in: folder, over: transport)
    }
  }
}

extension PushSettings.APNs: PushServiceSettings {
  fileprivate static let members = ["key", "keyID", "teamID", "topic", "url"]

  fileprivate init(_ object: JSONObject) throws {
    self.init(
      key: try PushSettings.file(object, "key"), keyID: try PushSettings.word(object, "keyID"),
      teamID: try PushSettings.word(object, "teamID"), topic: try PushSettings.word(object, "topic"),
      url: try PushSettings.optionalURL(object))
  }

  fileprivate var json: JSONObject {
    var object: JSONObject = [
      "key": .string(key), "keyID": .string(keyID), "teamID": .string(teamID), "topic": .string(topic),
    ]
    if let url { object["url"] = .string(url) }
    return object
  }

  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let credentials = APNsCredentials(
      key: try folder.signingKey(key), keyID: keyID, teamID: teamID, topic: topic)
    return APNsDispatcher(credentials, base: url ?? APNsDispatcher.production, over: transport)
  }
}

extension PushSettings.FCM: PushServiceSettings {
  fileprivate static let members = ["account", "url"]

  fileprivate init(_ object: JSONObject) throws {
    self.init(account: try PushSettings.file(object, "account"), url: try PushSettings.optionalURL(object))
  }

  fileprivate var json: JSONObject {
    var object: JSONObject = ["account": .string(account)]
    if let url { object["url"] = .string(url) }
    return object
  }

  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let file = try folder.read(account, .secret)
    let known: FCMServiceAccount
    do { known = try FCMServiceAccount(keyFile: file.insecureCopy()) } catch {
      throw folder.unusable(account, error)
    }
    return FCMDispatcher(known, base: url ?? FCMDispatcher.production, over: transport)
  }
}

extension PushSettings.WebPush: PushServiceSettings {
  fileprivate static let members = ["key", "contact", "hosts"]

  fileprivate init(_ object: JSONObject) throws {
    self.init(
      key: try PushSettings.file(object, "key"), contact: try Self.contact(object),
      hosts: try object.optionalStrings("hosts"))
  }

  fileprivate var json: JSONObject {
    var object: JSONObject = ["key": .string(key), "contact": .string(contact)]
    if let hosts { object["hosts"] = .array(hosts.map { .string($0) }) }
    return object
  }

  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    WebPushDispatcher(
      key: try folder.signingKey(key), contact: contact, hosts: hosts.map(WebPushHosts.init) ?? .browsers,
      over: transport)
  }

  private static func contact(_ object: JSONObject) throws -> String {
    let text = try PushSettings.word(object, "contact")
    guard text.hasPrefix("mailto:") || text.hasPrefix("https://") else {
      throw FolderSettings.Refusal.reason("\"contact\" in \"webPush\" is a mailto: or https: URL")
    }
    return text
  }
}

extension PushSettings.Webhook: PushServiceSettings {
  fileprivate static let members = ["url", "key", "keyID"]

  fileprivate init(_ object: JSONObject) throws {
    guard let url = try PushSettings.optionalURL(object) else {
      throw FolderSettings.Refusal.reason("\"url\" in \"webhook\" is missing")
    }
    self.init(
      url: url, key: try PushSettings.file(object, "key"), keyID: try PushSettings.word(object, "keyID"))
  }

  fileprivate var json: JSONObject {
    ["url": .string(url), "key": .string(key), "keyID": .string(keyID)]
  }

  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let signature = MessageSignature(try folder.signingKey(key), keyID: keyID)
    return WebhookDispatcher(url: url, signature: signature, over: transport)
  }
}
