/// What this device keeps for UAF servers, read and deleted without asking any.
public struct UAFLocalData: Sendable {
  let operations: UAFOperations

  /// The accounts, by name.
  ///
  /// - Returns: The accounts.
  /// - Throws: ``SignetFailure``.
  public func accounts() async throws(SignetFailure) -> [UAFAccount] {
    try await operations.store.state()?.accounts.map(\.account).sorted() ?? []
  }

  /// All authenticators, with the keys in them.
  ///
  /// - Returns: The authenticators.
  /// - Throws: ``SignetFailure``.
  public func authenticators() async throws(SignetFailure) -> [UAFAuthenticator] {
    try await operations.client.ownAuthenticators()
  }

  /// What this device is to servers; `nil` where nothing is registered.
  ///
  /// - Returns: The information.
  /// - Throws: ``SignetFailure``.
  public func deviceInformation() async throws(SignetFailure) -> UAFDeviceInformation? {
    try await operations.store.state()?.information
  }

  /// Deletes a user's authenticator, or all of them, from this device alone.
  ///
  /// For when the server cannot be asked: it keeps its part until a check of another device, or its operator, removes it.
  ///
  /// - Parameters:
  ///   - username: The user.
  ///   - aaid: The authenticator; `nil` for all.
  /// - Returns: The keys that are gone.
  /// - Throws: ``UAFDeletionFailure``: `invalidAAID` for what is no authenticator of this device.
  @discardableResult
  public func deleteAuthenticator(
    of username: String, aaid: String? = nil
  ) async throws(UAFDeletionFailure) -> [UAFKey] {
    let authenticators: [UAFAuthenticator]
    do throws(SignetFailure) { authenticators = try await self.authenticators() } catch {
      throw .device(error)
    }
    if let aaid {
      let isKnown = authenticators.contains { authenticator in
        authenticator.isModel(aaid) || authenticator.keys.contains { $0.isOfModel(aaid) }
      }
      guard isKnown else { throw .invalidAAID(aaid) }
    }
    do throws(SignetFailure) {
      let all = try await operations.keys(of: username)
      let gone = all.filter { key in aaid.map(key.isOfModel) ?? true }
      try await operations.client.delete(gone)
      if gone.count == all.count { try await operations.store.forget(username) }
      return gone
    } catch { throw .device(error) }
  }
}

extension UAFOperations {
  /// What this device keeps.
  public var localData: UAFLocalData { UAFLocalData(operations: self) }
}
