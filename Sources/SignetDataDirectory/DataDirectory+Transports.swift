import SignetCrypto
import SignetHTTPClient
import SignetPush
import SignetServer

extension DataDirectory {
  /// Creates the push services with the keys that the settings name.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  func pushSetup() throws(DataDirectoryFailure) -> PushSetup {
    let push = settings.push
    guard push != PushSettings() else { return .none }
    var connection = ConnectionConfiguration(timeoutSeconds: 20, proxy: .environment, version: .http2)
    if let authority = push.authority {
      connection.certificateAuthoritiesPEM = try text(authority, .plain, of: "push.authority")
    }
    let transport: CurlTransport
    do { transport = try CurlTransport(connection) } catch { throw unusable("push", error) }
    let dispatchers = try push.dispatchers(in: self, over: transport)
    return PushSetup(
      delivery: PushDelivery(dispatchers),
      webPushKey: dispatchers.lazy.compactMap(\.subscriptionKey).first)
  }

  /// A private key in a file, PEM on P-256.
  func signingKey(_ file: PushFile) throws(DataDirectoryFailure) -> P256.Signing.PrivateKey {
    let content = try read(file.name, file.access, of: file.setting)
    do { return try P256.Signing.PrivateKey(pem: content) } catch { throw unusable(file.name, error) }
  }

  func unusable(_ name: String, _ error: any Error) -> DataDirectoryFailure {
    .settings(path: "\(path)/\(Self.settingsName)", reason: "\"\(name)\" can't be used: \(error)")
  }

  /// Creates the transport for notifications to OpenID Connect clients.
  ///
  /// - Throws: ``DataDirectoryFailure``.
  func noticeTransport() throws(DataDirectoryFailure) -> any HTTPTransport {
    var connection = ConnectionConfiguration(
      timeoutSeconds: 20, maximumResponseByteCount: 64 << 10, maximumConnections: 32, proxy: .environment)
    if let authority = settings.openIDAuthority {
      connection.certificateAuthoritiesPEM = try text(authority, .plain, of: "openID.authority")
    }
    do { return try CurlTransport(connection) } catch { throw unusable("openID", error) }
  }
}
