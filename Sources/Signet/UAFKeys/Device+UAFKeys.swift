import SignetHTTPClient
import SignetIdentifiers
package import SignetProtocol
import SignetSystem

extension ServerURL {
  /// Indicates whether a URL has the host and port of this server; false for an invalid URL.
  package func isSameOrigin(as url: String) -> Bool {
    guard let url = HTTPSURL(url) else { return false }
    return url.host == host && Int(url.port) == port
  }
}

extension Device {
  /// Deletes the UAF keys of a user at a server, because no container is left whose lock would protect them.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - server: The server. Keys that were made without a server name stay, because they may belong to another server.
  /// - Throws: ``SignetError`` of the vault.
  func deleteUAFKeys(of user: UserID, at server: ServerURL) async throws(SignetError) {
    let store = UAFKeyStore(vault: vault, clock: clock)
    guard let contents = try await vaulted(await store.contents()) else { return }
    let keys = contents.keys.filter { key in
      guard let base = key.server, server.isSameOrigin(as: base), let handle = contents.handle(of: key) else {
        return false
      }
      return handle.username.hasSameBytes(as: user.text)
    }
    try await vaulted(await store.delete(keys.map(\.keyID)))
  }
}
