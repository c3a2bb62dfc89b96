/// The push services that the server uses; ``schema`` has the meaning of each member.
public struct PushSettings: Hashable, Sendable {
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

  /// Settings without a service.
  public init() {}

  /// The names of all files in the settings.
  var files: [String] {
    [apns?.key, fcm?.account, webPush?.key, webhook?.key, authority].compactMap(\.self)
  }
}
