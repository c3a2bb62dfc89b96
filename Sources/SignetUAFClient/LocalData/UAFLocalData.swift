/// The data for UAF servers on this device; reading and deleting it involves no server.
public struct UAFLocalData: Sendable {
  let operations: UAFOperations

  /// Returns the accounts, ordered by user name.
  ///
  /// - Returns: The accounts.
  /// - Throws: ``SignetFailure``.
  public func accounts() async throws(SignetFailure) -> [UAFAccount] {
    try await operations.store.state()?.accounts.map(\.account).sorted() ?? []
  }

  /// Returns all authenticators with their keys.
  ///
  /// - Returns: The authenticators.
  /// - Throws: ``SignetFailure``.
  public func authenticators() async throws(SignetFailure) -> [UAFAuthenticator] {
    try await operations.client.localAuthenticators()
  }

  /// Returns the device information; `nil` if nothing is registered.
  ///
  /// - Returns: The information.
  /// - Throws: ``SignetFailure``.
  public func deviceInformation() async throws(SignetFailure) -> UAFDeviceInformation? {
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
  /// - Throws: ``UAFDeletionFailure``: `invalidAAID` if no authenticator of this device has the AAID.
  @discardableResult
  public func deleteAuthenticator(
    of username: String, aaid: String? = nil
  ) async throws(UAFDeletionFailure) -> [UAFKey] {
    let authenticators: [UAFAuthenticator]
    do throws(SignetFailure) { authenticators = try await self.authenticators() } catch {
      throw .device(error)
    }
    if let aaid {
      let exists = authenticators.contains { authenticator in
        authenticator.isModel(aaid) || authenticator.keys.contains { $0.isOfModel(aaid) }
      }
      guard exists else { throw .invalidAAID(aaid) }
    }
    do throws(SignetFailure) {
      let all = try await operations.keys(of: username)
      let deleted = all.filter { key in aaid.map(key.isOfModel) ?? true }
      try await operations.client.delete(deleted)
      if deleted.count == all.count { try await operations.store.forget(username) }
      return deleted
    } catch { throw .device(error) }
  }
}

extension UAFOperations {
  /// The data for UAF servers on this device.
  public var localData: UAFLocalData { UAFLocalData(operations: self) }
}

/// A reason why an authenticator was not deleted from this device.
@nonexhaustive public enum UAFDeletionFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// No authenticator of this device has this AAID.
  case invalidAAID(String)
  /// The vault of this device could not be read or written.
  case device(SignetFailure)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .invalidAAID: "this device has no authenticator of this name"
    case .device(let failure): failure.description
    }
  }
}
