import SignetHTTPClient
import SignetJSON
import SignetUAF

extension UAFOperations {
  /// Removes one or all authenticators of a user from the server and from this device.
  ///
  /// After the last authenticator, the server also deletes the dispatch target of this device. If that request fails, the
  /// account stays without keys until ``synchronize(_:authorization:)`` repeats the request or the user registers again.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - aaid: The AAID of the authenticator; `nil` for all.
  ///   - authorization: The authorization for the server; with `jws` the key of this device signs the request.
  /// - Returns: The keys that were deleted from this device.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func deregister(
    _ username: String, aaid: String? = nil, authorization: UAFAuthorization? = nil
  ) async throws(SignetError) -> [UAFKey] {
    do { return try await deregister(username, aaid, authorization) } catch {
      throw UAFOperationFailure(thrown: error).signetError
    }
  }

  private func deregister(
    _ username: String, _ aaid: String?, _ authorization: UAFAuthorization?
  ) async throws -> [UAFKey] {
    let state = try await store.state()
    guard let entry = state?[username] else {
      throw UAFOperationFailure.userNotRegisteredInServer(configuration.baseURL)
    }
    let server = try self.server(of: entry.account)
    let context = Self.deregistration(of: username, aaid, nil)
    let signature = try await signature(
      of: username, where: authorization, to: server, .deregistration, context)
    let request = try await server.request(
      .deregistration, context, by: authorization, signature: signature
    ).content
    let deleted = try await deregister(request, at: server) { $0.isOf(username) }
    _ = try await forgetIfEmpty(entry.account, by: authorization)
    return deleted
  }

  /// Deletes the keys that a server's message names, limited to keys that the server may affect.
  func deregister(
    _ request: ReturnUAFRequest, at server: UAFServer, where isSelected: (UAFKey) -> Bool
  ) async throws -> [UAFKey] {
    let message = try self.message(of: request, .deregistration, at: server)
    guard case .deregistration(let deregistration) = try await client.opened(message, from: server.name)
    else {
      throw UAFFailure.protocol(.protocolError, "the server's message is not a deregistration request")
    }
    return try await deregistration.deregister(where: isSelected)
  }

  /// The context of a deregistration request.
  static func deregistration(of username: String, _ aaid: String?, _ keyID: String?) -> JSONObject {
    var context: JSONObject = ["username": .string(username)]
    if let aaid {
      context["authenticators"] = [["aaid": .string(aaid), "keyID": .string(keyID ?? "")]]
    }
    return context
  }

  /// Returns the signature of this device if the authorization is `jws`; `nil` otherwise, and while the account has no dispatch target.
  func signature(
    of username: String, where authorization: UAFAuthorization?, to server: UAFServer,
    _ operation: UAFOperation, _ context: JSONObject
  ) async throws(SignetError) -> String? {
    guard authorization == .jws, let entry = try await store.state()?[username], let target = entry.target
    else { return nil }
    return try await DeviceSignature.make(
      of: server.signedRequest(operation, context), for: target, with: try await store.signingKey(entry),
      on: device)
  }

  /// Deletes the dispatch target of an account without keys at the server, then deletes the account on this device.
  ///
  /// If the server's result is unknown, the account stays until a later check. Otherwise a dispatch target that this
  /// device has forgotten would block its name at the server for ever.
  ///
  /// - Parameters:
  ///   - account: The account; one with keys is left unchanged.
  ///   - authorization: The authorization to list the dispatch targets if this device does not know their IDs. Without
  ///     it, such an account stays.
  /// - Returns: The failure of the request, if a retry may succeed; `nil` otherwise.
  /// - Throws: ``SignetError``.
  func forgetIfEmpty(
    _ account: UAFAccount, by authorization: UAFAuthorization? = nil
  ) async throws(SignetError) -> UAFDeviceServiceFailure? {
    guard try await keys(of: account.username, at: account.server).isEmpty else { return nil }
    if let state = try await store.state(), let entry = state[account.username] {
      do throws(UAFDeviceServiceFailure) {
        if let target = entry.target {
          try await removeTarget(target, of: entry)
        } else if entry.mayHaveUnknownTarget {
          guard let authorization, authorization != .jws else { return nil }
          try await removeTargets(of: entry, state, by: authorization)
        }
      } catch {
        // The server may already have deleted the target, or may not allow a device to delete it; then an unused target stays there.
        if error.isOpen { return error }
      }
    }
    try await store.forget(account.username)
    return nil
  }

  private func removeTargets(
    of entry: UAFDeviceState.Account, _ state: UAFDeviceState, by authorization: UAFAuthorization
  ) async throws(UAFDeviceServiceFailure) {
    let server = try deviceServer(of: entry.account)
    do throws(UAFDeviceInformationChangeFailure) {
      _ = try await deleteTargetsOfDevice(of: entry, state, at: server, by: authorization)
    } catch { throw UAFDeviceServiceFailure(error, at: server.name) }
  }
}

extension UAFDeviceServiceFailure {
  /// Indicates whether the result is unknown or a retry may succeed.
  fileprivate var isOpen: Bool {
    switch self {
    case .clockSkewTooBig: true
    case .network(let problem):
      if case .transport = problem.cause { true } else { problem.isAmbiguous || problem.mayPass }
    default: false
    }
  }
}
