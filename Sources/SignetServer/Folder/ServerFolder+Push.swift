import SignetCrypto
import SignetPush
import SignetTransport

extension ServerFolder {
  /// The services that carry pushes, with the keys that the settings name.
  ///
  /// - Throws: ``ServerFolderFailure``.
  func pushSetup() throws(ServerFolderFailure) -> PushSetup {
    let push = settings.push
    guard push != PushSettings() else { return .none }
    var connection = ConnectionConfiguration(timeoutSeconds: 20, proxy: .environment, version: .http2)
    if let authority = push.authority { connection.certificateAuthoritiesPEM = try text(authority, .plain) }
    let transport: CurlTransport
    do { transport = try CurlTransport(connection) } catch { throw unusable("push", error) }
    var dispatchers: [any PushDispatcher] = []
    if let apns = push.apns {
      let credentials = APNsCredentials(
        key: try signingKey(apns.key), keyID: apns.keyID, teamID: apns.teamID, topic: apns.topic)
      dispatchers.append(
        APNsDispatcher(credentials, base: apns.url ?? APNsDispatcher.production, over: transport))
    }
    if let fcm = push.fcm {
      let file = try read(fcm.account, .secret)
      let account: FCMServiceAccount
      do { account = try FCMServiceAccount(keyFile: file.insecureCopy()) } catch {
        throw unusable(fcm.account, error)
      }
      dispatchers.append(FCMDispatcher(account, base: fcm.url ?? FCMDispatcher.production, over: transport))
    }
    var webPushKey: [UInt8]?
    if let webPush = push.webPush {
      let key = try signingKey(webPush.key)
      webPushKey = key.publicKey.x963Representation
      dispatchers.append(
        WebPushDispatcher(
          key: key, contact: webPush.contact, hosts: webPush.hosts.map(WebPushHosts.init) ?? .browsers,
          over: transport))
    }
    if let webhook = push.webhook {
      let signature = MessageSignature(try signingKey(webhook.key), keyID: webhook.keyID)
      dispatchers.append(WebhookDispatcher(url: webhook.url, signature: signature, over: transport))
    }
    return PushSetup(delivery: PushDelivery(dispatchers), webPushKey: webPushKey)
  }

  private func signingKey(_ name: String) throws(ServerFolderFailure) -> P256.Signing.PrivateKey {
    let file = try read(name, .secret)
    do { return try P256.Signing.PrivateKey(pem: file) } catch { throw unusable(name, error) }
  }

  func unusable(_ name: String, _ error: any Error) -> ServerFolderFailure {
    .settings(path: "\(path)/\(Self.settingsName)", reason: "\"\(name)\" can't be used: \(error)")
  }
}
