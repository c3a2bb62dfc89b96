/// The data for UAF servers on this device; reading and deleting it involves no server.
public struct UAFLocalData: Sendable {
  let operations: UAFOperations

  /// Returns the accounts, ordered by user name.
  ///
  /// - Returns: The accounts.
  /// - Throws: ``SignetError``.
  public func accounts() async throws(SignetError) -> [UAFAccount] {
    try await operations.store.state()?.accounts.map(\.account).sorted() ?? []
  }

  /// Returns all authenticators with their keys.
  ///
  /// - Returns: The authenticators.
  /// - Throws: ``SignetError``.
  public func authenticators() async throws(SignetError) -> [UAFAuthenticator] {
    try await operations.client.authenticators()
  }

  /// Returns the device information; `nil` if nothing is registered.
  ///
  /// - Returns: The information.
  /// - Throws: ``SignetError``.
  public func deviceInformation() async throws(SignetError) -> UAFDeviceInformation? {
    try await operations.store.state()?.information
  }

  /// Deletes one or all authenticators of a user from this device only.
  ///
  /// Use it if the server cannot be reached. The server keeps its data until a check of another device, or its operator, removes it.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - aaid: The AAID of the authenticator; `nil` for all.
  /// - Returns: The deleted keys.
  /// - Throws: ``SignetError``: `noSuchAuthenticator` if no authenticator of this device has the AAID.
  @discardableResult
  public func deleteAuthenticator(
    of username: String, aaid: String? = nil
  ) async throws(SignetError) -> [UAFKey] {
    let authenticators = try await authenticators()
    if let aaid {
      let exists = authenticators.contains { authenticator in
        authenticator.isModel(aaid) || authenticator.keys.contains { $0.isOfModel(aaid) }
      }
      guard exists else { throw UAFOperationFailure.noSuchAuthenticator(aaid: aaid).signetError }
    }
    let all = try await operations.keys(of: username)
    let deleted = all.filter { key in aaid.map(key.isOfModel) ?? true }
    try await operations.client.delete(deleted)
    if deleted.count == all.count { try await operations.store.forget(username) }
    return deleted
  }
}

extension UAFOperations {
  /// The data for UAF servers on this device.
  public var localData: UAFLocalData { UAFLocalData(operations: self) }
}
