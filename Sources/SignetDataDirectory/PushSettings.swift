import SignetCrypto
import SignetHTTPClient
import SignetPush
import SignetServer

/// The push services that the server uses; ``schema`` has the meaning of each member.
package struct PushSettings: Hashable, Sendable {
  package struct APNs: Hashable, Sendable {
    package var key = ""
    package var keyID = ""
    package var teamID = ""
    package var topic = ""
    package var url: String?
  }

  package struct FCM: Hashable, Sendable {
    package var account = ""
    package var url: String?
  }

  package struct WebPush: Hashable, Sendable {
    package var key = ""
    package var contact = ""
    package var hosts: [String]?
  }

  package struct Webhook: Hashable, Sendable {
    package var url = ""
    package var key = ""
    package var keyID = ""
  }

  package var apns: APNs?
  package var fcm: FCM?
  package var webPush: WebPush?
  package var webhook: Webhook?
  package var authority: String?

  package init() {}

  /// All files in the settings, in the order of the settings.
  var files: [PushFile] {
    services.map(\.file)
      + (authority.map { [PushFile(name: $0, access: .plain, setting: "push.authority")] } ?? [])
  }

  private var services: [any PushServiceSettings] {
    let services: [(any PushServiceSettings)?] = [apns, fcm, webPush, webhook]
    return services.compactMap(\.self)
  }
}

extension PushSettings {
  package static let schema = SettingsSchema(
    absent: PushSettings(),
    settings: [
      Setting(optional: "apns", \.apns, apnsSchema.shape, "Apple's service", default: "not used"),
      Setting(optional: "fcm", \.fcm, fcmSchema.shape, "Firebase Cloud Messaging", default: "not used"),
      Setting(
        optional: "webPush", \.webPush, webPushSchema.shape, "Web Push and UnifiedPush", default: "not used"),
      Setting(
        optional: "webhook", \.webhook, webhookSchema.shape,
        "the operator's own gateway ([protocol.md](protocol.md#10-pushes))", default: "not used"),
      Setting(
        optional: "authority", \.authority, .file,
        "certificates that are trusted in place of the system's, PEM",
        default: "the system's"),
    ])

  private static let apnsSchema = SettingsSchema(
    absent: APNs(),
    settings: [
      Setting(required: "key", \.key, .file, "the key that signs provider tokens, PEM (`.p8`)"),
      Setting(required: "keyID", \.keyID, .visible, "the key's id"),
      Setting(required: "teamID", \.teamID, .visible, "the operator's team"),
      Setting(required: "topic", \.topic, .visible, "the app's bundle id"),
      Setting(
        optional: "url", \.url, .httpsURL,
        "another host, such as `https://api.sandbox.push.apple.com` for apps under development",
        default: "the host for apps of the App Store"),
    ])

  private static let fcmSchema = SettingsSchema(
    absent: FCM(),
    settings: [
      Setting(
        required: "account", \.account, .file,
        "the key file of a service account that may send messages, JSON"),
      Setting(optional: "url", \.url, .httpsURL, "another host", default: "Google's"),
    ])

  private static let webPushSchema = SettingsSchema(
    absent: WebPush(),
    settings: [
      Setting(required: "key", \.key, .file, "the server's P-256 key, PEM"),
      Setting(
        required: "contact", \.contact,
        .string("a mailto: or https: URL", pattern: "^(mailto:|https://)") {
          isVisible($0) && ($0.hasPrefix("mailto:") || $0.hasPrefix("https://"))
        }, "how a push service reaches the operator"),
      Setting(
        optional: "hosts", \.hosts, .list(.string("a host")),
        "the hosts that pushes can be sent to; `*.` at the start stands for any subdomain, and a port other than 443 is part of the host. Devices choose the address, so name no host of your own network",
        default: "the services of the large browsers"),
    ])

  private static let webhookSchema = SettingsSchema(
    absent: Webhook(),
    settings: [
      Setting(required: "url", \.url, .httpsURL, "the URL of the gateway"),
      Setting(required: "key", \.key, .file, "the P-256 key that signs requests, PEM"),
      Setting(required: "keyID", \.keyID, .visible, "the id of the key at the gateway"),
    ])

  fileprivate static func isVisible(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}

extension Shape<String> {
  fileprivate static let visible = string(
    "1 to 256 visible ASCII characters, no quotes and backslashes", pattern: #"^[!#-\[\]-~]{1,256}$"#,
    where: PushSettings.isVisible)

  fileprivate static let httpsURL = string(
    "an https URL without a slash at its end", pattern: "^https://", isSecret: true  // may have a password
  ) {
    $0.hasPrefix("https://") && $0.utf8.count <= 1_024 && $0.utf8.last != UInt8(ascii: "/")
      && HTTPSURL($0) != nil
  }
}

extension PushSettings {
  /// Creates a dispatcher for each configured service.
  ///
  /// - Parameters:
  ///   - folder: The data folder with the services' keys.
  ///   - transport: The transport for the messages.
  /// - Returns: The dispatchers, at most one per service.
  /// - Throws: ``DataDirectoryFailure`` if a key cannot be read.
  func dispatchers(
    in folder: DataDirectory, over transport: any HTTPTransport
  ) throws(DataDirectoryFailure) -> [any PushDispatcher] {
    var dispatchers: [any PushDispatcher] = []
    for service in services { dispatchers.append(try service.dispatcher(in: folder, over: transport)) }
    return dispatchers
  }
}

/// A file that the settings name.
struct PushFile {
  let name: String
  let access: FolderFile.Access
  let setting: String
}

/// The settings of one service.
private protocol PushServiceSettings {
  /// The file with the service's key.
  var file: PushFile { get }

  /// Makes the dispatcher of the service, with the keys that the settings name.
  func dispatcher(
    in folder: DataDirectory, over transport: any HTTPTransport
  ) throws(DataDirectoryFailure) -> any PushDispatcher
}

extension PushSettings.APNs: PushServiceSettings {
  fileprivate var file: PushFile { PushFile(name: key, access: .secret, setting: "push.apns.key") }

  fileprivate func dispatcher(
    in folder: DataDirectory, over transport: any HTTPTransport
  ) throws(DataDirectoryFailure) -> any PushDispatcher {
    let credentials = APNsCredentials(
      key: try folder.signingKey(file), keyID: keyID, teamID: teamID, topic: topic)
    return APNsDispatcher(credentials, base: url ?? APNsDispatcher.production, over: transport)
  }
}

extension PushSettings.FCM: PushServiceSettings {
  fileprivate var file: PushFile { PushFile(name: account, access: .secret, setting: "push.fcm.account") }

  fileprivate func dispatcher(
    in folder: DataDirectory, over transport: any HTTPTransport
  ) throws(DataDirectoryFailure) -> any PushDispatcher {
    let content = try folder.read(file.name, file.access, of: file.setting)
    let serviceAccount: FCMServiceAccount
    do { serviceAccount = try FCMServiceAccount(keyFile: content.insecureCopy()) } catch {
      throw folder.unusable(account, error)
    }
    return FCMDispatcher(serviceAccount, base: url ?? FCMDispatcher.production, over: transport)
  }
}

extension PushSettings.WebPush: PushServiceSettings {
  fileprivate var file: PushFile { PushFile(name: key, access: .secret, setting: "push.webPush.key") }

  fileprivate func dispatcher(
    in folder: DataDirectory, over transport: any HTTPTransport
  ) throws(DataDirectoryFailure) -> any PushDispatcher {
    WebPushDispatcher(
      key: try folder.signingKey(file), contact: contact,
      hosts: hosts.map(WebPushHosts.init) ?? .browsers,
      over: transport)
  }
}

extension PushSettings.Webhook: PushServiceSettings {
  fileprivate var file: PushFile { PushFile(name: key, access: .secret, setting: "push.webhook.key") }

  fileprivate func dispatcher(
    in folder: DataDirectory, over transport: any HTTPTransport
  ) throws(DataDirectoryFailure) -> any PushDispatcher {
    let signature = MessageSignature(try folder.signingKey(file), keyID: keyID)
    return WebhookDispatcher(url: url, signature: signature, over: transport)
  }
}
