/// What this device keeps for UAF servers, read and deleted without asking any.
public struct UAFLocalData: Sendable {
  let operations: UAFOperations

  /// The accounts, by name.
  ///
  /// - Returns: The accounts.
  /// - Throws: ``UAFDeletionFailure``.
  public func accounts() async throws(UAFDeletionFailure) -> [UAFAccount] {
    (try await state())?.accounts.map(\.account).sorted() ?? []
  }

  /// All authenticators, with the keys in them.
  ///
  /// - Returns: The authenticators.
  /// - Throws: ``UAFDeletionFailure``.
  public func authenticators() async throws(UAFDeletionFailure) -> [UAFAuthenticator] {
    do throws(UAFFailure) { return try await operations.client.authenticators() } catch {
      throw UAFDeletionFailure(error)
    }
  }

  /// What this device is to servers; `nil` where nothing is registered.
  ///
  /// - Returns: The information.
  /// - Throws: ``UAFDeletionFailure``.
  public func deviceInformation() async throws(UAFDeletionFailure) -> UAFDeviceInformation? {
    try await state()?.information
  }

  /// Deletes a user's authenticator, or all of them, from this device alone.
  ///
  /// For when the server cannot be asked: it keeps its part until a check of another device, or its operator, removes it.
  ///
  /// - Parameters:
  ///   - username: The user.
  ///   - aaid: The authenticator; `nil` for all.
  /// - Returns: The keys that are gone.
  /// - Throws: ``UAFDeletionFailure/invalidAAID(_:)`` for what is no authenticator of this device.
  @discardableResult
  public func deleteAuthenticator(
    of username: String, aaid: String? = nil
  ) async throws(UAFDeletionFailure) -> [UAFKey] {
    if let aaid {
      let known = try await authenticators().contains { authenticator in
        authenticator.aaid.lowercased() == aaid.lowercased()
          || authenticator.keys.contains { $0.aaid.lowercased() == aaid.lowercased() }
      }
      guard known else { throw .invalidAAID(aaid) }
    }
    do throws(UAFOperationFailure) {
      let all = try await operations.keys(of: username)
      let gone = all.filter { key in aaid.map { $0.lowercased() == key.aaid.lowercased() } ?? true }
      do throws(UAFFailure) {
        for key in gone { try await operations.client.delete(key) }
      } catch { throw UAFOperationFailure(error) }
      if gone.count == all.count {
        try await operations.kept { () async throws(SignetFailure) in
          try await operations.store.forget(username)
        }
      }
      return gone
    } catch {
      if case .device(let failure) = error { throw .device(failure) }
      throw .invalidAAID(aaid ?? "")
    }
  }

  private func state() async throws(UAFDeletionFailure) -> UAFDeviceState? {
    do throws(SignetFailure) { return try await operations.store.state() } catch { throw .device(error) }
  }
}

extension UAFOperations {
  /// What this device keeps.
  public var localData: UAFLocalData { UAFLocalData(operations: self) }
}

extension UAFDeletionFailure {
  init(_ failure: UAFFailure) {
    if case .device(let failure) = failure { self = .device(failure) } else { self = .invalidAAID("") }
  }
}
