import SignetWire

extension UAFClient {
  /// Refuses what is to be done with the keys of a user where a container of the same user at the same server is locked; else this
  /// counts as a use of it.
  ///
  /// A key of UAF has no policies of its own: it is on this device because of that container. Servers are the same whose host and
  /// port are.
  ///
  /// - Parameters:
  ///   - username: Whose keys.
  ///   - server: The base URL of the server that asks; `nil` where nobody says, and all servers of the user count.
  /// - Throws: ``UAFFailure/device(_:)`` with ``SignetFailure/accountLocked(_:)``.
  func requireUnlocked(_ username: String, at server: String?) async throws(UAFFailure) {
    do throws(SignetFailure) {
      for container in try await device.containers()
      where container.user.text.utf8.elementsEqual(username.utf8) && Self.isSame(server, container.server) {
        try await device.requireUnlocked(container)
      }
    } catch { throw .device(error) }
  }

  private static func isSame(_ base: String?, _ server: ServerURL) -> Bool {
    base.map { server.isPlace(of: $0) } ?? true
  }
}

extension ServerURL {
  /// Whether a URL has the host and the port of this server; what is no URL has not.
  fileprivate func isPlace(of url: String) -> Bool {
    guard let place = UAFPlace(url)?.origin.lowercased() else { return false }
    return place == origin || place == "https://\(host):\(port)"
  }
}

extension Device {
  /// Deletes the keys of UAF that a user has at a server: no container is left under whose locks they could fall.
  ///
  /// - Parameters:
  ///   - user: Whose.
  ///   - server: Of keys that were made for no server by name none goes: they may be another one's.
  /// - Throws: ``SignetFailure`` of the vault.
  func deleteUAFKeys(of user: UserID, at server: ServerURL) async throws(SignetFailure) {
    let store = UAFKeyStore(vault: vault, clock: clock)
    guard let contents = try await vaulted(await store.contents()) else { return }
    let keys = contents.keys.filter { key in
      guard let base = key.server, server.isPlace(of: base), let handle = contents.handle(of: key) else {
        return false
      }
      return handle.username.utf8.elementsEqual(user.text.utf8)
    }
    try await vaulted(await store.delete(keys.map(\.keyID)))
  }
}

extension UAFOperations {
  /// Refuses an operation of a user whose container is locked, before the user is asked for anything.
  ///
  /// - Throws: ``UAFOperationFailure/device(_:)`` with ``SignetFailure/accountLocked(_:)``.
  func requireUnlocked(_ account: UAFAccount) async throws(UAFOperationFailure) {
    do throws(UAFFailure) { try await client.requireUnlocked(account.username, at: account.server) } catch {
      throw UAFOperationFailure(error)
    }
  }
}
