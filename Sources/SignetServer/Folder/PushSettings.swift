import SignetCrypto
import SignetPush
import SignetTransport

/// Which services carry pushes; files are names within the folder, or full paths.
public struct PushSettings: Hashable, Sendable {
  /// Apple's service.
  public struct APNs: Hashable, Sendable {
    /// The file of the key that signs provider tokens, PEM (`.p8`).
    public var key = ""
    /// The key's id.
    public var keyID = ""
    /// The operator's team.
    public var teamID = ""
    /// The app's bundle id.
    public var topic = ""
    /// Where Apple's service is; `nil` for that of apps of the store.
    public var url: String?
  }

  /// Google's service.
  public struct FCM: Hashable, Sendable {
    /// The key file of a service account, JSON.
    public var account = ""
    /// Where Google's service is; `nil` for the usual one.
    public var url: String?
  }

  /// Web Push and UnifiedPush.
  public struct WebPush: Hashable, Sendable {
    /// The file of the server's key, PEM on P-256.
    public var key = ""
    /// How a push service reaches the operator: a `mailto:` or `https:` URL.
    public var contact = ""
    /// Where to send; `nil` for the services of the large browsers.
    public var hosts: [String]?
  }

  /// A gateway of the operator's own.
  public struct Webhook: Hashable, Sendable {
    /// Where it is, an `https` URL.
    public var url = ""
    /// The file of the key that signs requests, PEM on P-256.
    public var key = ""
    /// What the gateway knows the key by.
    public var keyID = ""
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
    let services: [(any PushServiceSettings)?] = [apns, fcm, webPush, webhook]
    var dispatchers: [any PushDispatcher] = []
    for case let service? in services {
      dispatchers.append(try service.dispatcher(in: folder, over: transport))
    }
    return dispatchers
  }
}

extension PushSettings {
  package static let schema = SettingsSchema(
    absent: PushSettings(),
    settings: [
      Setting(optional: "apns", \.apns, apnsSchema.type, "Apple's service", default: "not used"),
      Setting(optional: "fcm", \.fcm, fcmSchema.type, "Firebase Cloud Messaging", default: "not used"),
      Setting(
        optional: "webPush", \.webPush, webPushSchema.type, "Web Push and UnifiedPush", default: "not used"),
      Setting(
        optional: "webhook", \.webhook, webhookSchema.type,
        "a gateway of one's own ([protocol.md](protocol.md#10-pushes))", default: "not used"),
      Setting(
        optional: "authority", \.authority, .file,
        "certificates that are trusted in place of the system's, PEM",
        default: "the system's"),
    ])

  private static let apnsSchema = SettingsSchema(
    absent: APNs(),
    settings: [
      Setting("key", \.key, .file, "the key that signs provider tokens, PEM (`.p8`)", isRequired: true),
      Setting("keyID", \.keyID, .visible, "the key's id", isRequired: true),
      Setting("teamID", \.teamID, .visible, "the operator's team", isRequired: true),
      Setting("topic", \.topic, .visible, "the app's bundle id", isRequired: true),
      Setting(
        optional: "url", \.url, .httpsURL,
        "another host, such as `https://api.sandbox.push.apple.com` for apps under development",
        default: "that for apps of the store"),
    ])

  private static let fcmSchema = SettingsSchema(
    absent: FCM(),
    settings: [
      Setting(
        "account", \.account, .file, "the key file of a service account that may send messages, JSON",
        isRequired: true),
      Setting(optional: "url", \.url, .httpsURL, "another host", default: "Google's"),
    ])

  private static let webPushSchema = SettingsSchema(
    absent: WebPush(),
    settings: [
      Setting("key", \.key, .file, "the server's own key, PEM on P-256", isRequired: true),
      Setting(
        "contact", \.contact,
        .text("a mailto: or https: URL", pattern: "^(mailto:|https://)") {
          isVisible($0) && ($0.hasPrefix("mailto:") || $0.hasPrefix("https://"))
        }, "how a push service reaches the operator", isRequired: true),
      Setting(
        optional: "hosts", \.hosts, .list(of: .text("a host")),
        "where to send, with `*.` for any names before, and with a port that is not 443. Devices name the address, so a host of one's own network does not belong here",
        default: "the services of the large browsers"),
    ])

  private static let webhookSchema = SettingsSchema(
    absent: Webhook(),
    settings: [
      Setting("url", \.url, .httpsURL, "where it is", isRequired: true),
      Setting("key", \.key, .file, "the key with which requests are signed, PEM on P-256", isRequired: true),
      Setting("keyID", \.keyID, .visible, "what the gateway knows the key by", isRequired: true),
    ])

  fileprivate static func isVisible(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}

extension SettingType<String> {
  fileprivate static let visible = text(
    "1 to 256 visible ASCII characters, no quotes and backslashes", pattern: #"^[!#-\[\]-~]{1,256}$"#,
    where: PushSettings.isVisible)

  fileprivate static let httpsURL = text("an https URL without a slash at its end", pattern: "^https://") {
    $0.hasPrefix("https://") && (9...1_024).contains($0.utf8.count)
      && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } && $0.utf8.last != UInt8(ascii: "/")
  }
}

/// What `server.json` says of a service.
private protocol PushServiceSettings {
  /// What hands messages over, with the keys that the settings name.
  func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher
}

extension PushSettings.APNs: PushServiceSettings {
  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let credentials = APNsCredentials(
      key: try folder.signingKey(key), keyID: keyID, teamID: teamID, topic: topic)
    return APNsDispatcher(credentials, base: url ?? APNsDispatcher.production, over: transport)
  }
}

extension PushSettings.FCM: PushServiceSettings {
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
  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    WebPushDispatcher(
      key: try folder.signingKey(key), contact: contact, hosts: hosts.map(WebPushHosts.init) ?? .browsers,
      over: transport)
  }
}

extension PushSettings.Webhook: PushServiceSettings {
  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let signature = MessageSignature(try folder.signingKey(key), keyID: keyID)
    return WebhookDispatcher(url: url, signature: signature, over: transport)
  }
}
