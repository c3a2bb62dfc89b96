import SignetWire

extension UAFClient {
  /// Rejects the use of a user's keys if a container of that user at the same server is locked.
  ///
  /// Otherwise the call counts as a use of the container.
  ///
  /// A UAF key has no lock policies; it depends on the container of the same user. Two servers are the same if their host
  /// and port are equal.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - server: The base URL of the requesting server; `nil` if unknown, then the user's containers at all servers are checked.
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
  /// Indicates whether a URL has the host and port of this server; false for an invalid URL.
  fileprivate func isPlace(of url: String) -> Bool {
    guard let place = UAFPlace(url)?.origin.lowercased() else { return false }
    return place == origin || place == "https://\(host):\(port)"
  }
}

extension Device {
  /// Deletes the UAF keys of a user at a server, because no container is left whose lock would protect them.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - server: The server. Keys that were made without a server name stay, because they may belong to another server.
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
  /// Rejects an operation if a container of the user is locked, before the user is asked for anything.
  ///
  /// - Throws: ``UAFOperationFailure/device(_:)`` with ``SignetFailure/accountLocked(_:)``.
  func requireUnlocked(_ account: UAFAccount) async throws(UAFOperationFailure) {
    do throws(UAFFailure) { try await client.requireUnlocked(account.username, at: account.server) } catch {
      throw UAFOperationFailure(error)
    }
  }
}
