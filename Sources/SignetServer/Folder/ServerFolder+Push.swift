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
    let hosts = push.webPush?.hosts.map(WebPushHosts.init) ?? .browsers
    if let webPush = push.webPush {
      let key = try signingKey(webPush.key)
      webPushKey = key.publicKey.x963Representation
      dispatchers.append(
        WebPushDispatcher(
          key: key, contact: webPush.contact, hosts: hosts, over: transport))
    }
    if let webhook = push.webhook {
      let signature = MessageSignature(try signingKey(webhook.key), keyID: webhook.keyID)
      dispatchers.append(WebhookDispatcher(url: webhook.url, signature: signature, over: transport))
    }
    return PushSetup(delivery: PushDelivery(dispatchers), webPushKey: webPushKey, webPushHosts: hosts)
  }

  /// What carries notices to clients of OpenID Connect.
  ///
  /// - Throws: ``ServerFolderFailure``.
  func noticeTransport() throws(ServerFolderFailure) -> any HTTPTransport {
    var connection = ConnectionConfiguration(
      timeoutSeconds: 20, maximumResponseByteCount: 64 << 10, maximumConnections: 32, proxy: .environment)
    if let authority = settings.openIDAuthority {
      connection.certificateAuthoritiesPEM = try text(authority, .plain)
    }
    do { return try CurlTransport(connection) } catch { throw unusable("openID", error) }
  }

  private func signingKey(_ name: String) throws(ServerFolderFailure) -> P256.Signing.PrivateKey {
    let file = try read(name, .secret)
    do { return try P256.Signing.PrivateKey(pem: file) } catch { throw unusable(name, error) }
  }

  private func unusable(_ name: String, _ error: any Error) -> ServerFolderFailure {
    .settings(path: "\(path)/\(Self.settingsName)", reason: "\"\(name)\" can't be used: \(error)")
  }
}
