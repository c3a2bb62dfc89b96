import SignetCrypto
import SignetPush
import SignetTransport

extension PushSettings {
  /// Makes a dispatcher for each service that is set up.
  ///
  /// - Parameters:
  ///   - folder: The data folder with the services' keys.
  ///   - transport: Carries the messages.
  /// - Returns: The dispatchers, at most one a service.
  /// - Throws: ``ServerFolderFailure`` where a key cannot be read.
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

/// The settings of one service.
private protocol PushServiceSettings {
  /// Makes the dispatcher of the service, with the keys that the settings name.
  func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher
}

extension PushSettings.APNs: PushServiceSettings {
  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let credentials = APNsCredentials(
      key: try folder.signingKey(key, of: "push.apns.key"), keyID: keyID, teamID: teamID, topic: topic)
    return APNsDispatcher(credentials, base: url ?? APNsDispatcher.production, over: transport)
  }
}

extension PushSettings.FCM: PushServiceSettings {
  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let file = try folder.read(account, .secret, of: "push.fcm.account")
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
      key: try folder.signingKey(key, of: "push.webPush.key"), contact: contact,
      hosts: hosts.map(WebPushHosts.init) ?? .browsers,
      over: transport)
  }
}

extension PushSettings.Webhook: PushServiceSettings {
  fileprivate func dispatcher(
    in folder: ServerFolder, over transport: any HTTPTransport
  ) throws(ServerFolderFailure) -> any PushDispatcher {
    let signature = MessageSignature(try folder.signingKey(key, of: "push.webhook.key"), keyID: keyID)
    return WebhookDispatcher(url: url, signature: signature, over: transport)
  }
}
