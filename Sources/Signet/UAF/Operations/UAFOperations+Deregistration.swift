import SignetJSON
import SignetTransport
import SignetUAF

extension UAFOperations {
  /// Removes a user's authenticator, or all of them, from the server and from this device.
  ///
  /// With the last one the server forgets this device. Where it cannot be asked for that, the account stays without keys until
  /// ``synchronize(_:authorization:)`` has asked again, or the user registers again.
  ///
  /// - Parameters:
  ///   - username: The user.
  ///   - aaid: The authenticator; `nil` for all.
  ///   - authorization: What lets the user do that; `jws` has the key of this device sign.
  /// - Returns: The keys that are gone from this device.
  /// - Throws: ``UAFOperationFailure``.
  @discardableResult
  public func deregister(
    _ username: String, aaid: String? = nil, authorization: UAFAuthorization? = nil
  ) async throws(UAFOperationFailure) -> [UAFKey] {
    let state = try await kept(await store.state())
    guard let entry = state?[username] else { throw .userNotRegisteredInServer(configuration.baseURL) }
    let server = try self.server(of: entry.account)
    let context = Self.deregistration(of: username, aaid, nil)
    let signature = try await kept(
      await signature(of: username, where: authorization, to: server, .deregistration, context))
    let request: ReturnUAFRequest
    do throws(UAFNetworkProblem) {
      request = try await server.request(
        .deregistration, context, by: authorization, signature: signature
      ).content
    } catch { throw UAFOperationFailure(error) }
    let gone = try await deregister(request, at: server) { $0.isOf(username) }
    _ = try await kept(await forgetIfEmpty(entry.account, by: authorization))
    return gone
  }

  /// Deletes what a server says is gone, of those keys that it may say that of.
  func deregister(
    _ request: ReturnUAFRequest, at server: UAFServer, where isMeant: (UAFKey) -> Bool
  ) async throws(UAFOperationFailure) -> [UAFKey] {
    let message = try self.message(of: request, .deregistration, at: server)
    do throws(UAFFailure) {
      guard case .deregistration(let deregistration) = try await client.open(message, from: server.name)
      else {
        throw .protocol(.protocolError, "the server's message is no deregistration")
      }
      return try await deregistration.deregister(where: isMeant)
    } catch { throw UAFOperationFailure(error) }
  }

  /// What is said of keys that are to go.
  static func deregistration(of username: String, _ aaid: String?, _ keyID: String?) -> JSONObject {
    var context: JSONObject = ["username": .string(username)]
    if let aaid {
      context["authenticators"] = [["aaid": .string(aaid), "keyID": .string(keyID ?? "")]]
    }
    return context
  }

  /// The signature of this device where that is what authorizes a call; `nil` where it is not, and before a server knows this device.
  func signature(
    of username: String, where authorization: UAFAuthorization?, to server: UAFServer,
    _ operation: UAFOperation, _ context: JSONObject
  ) async throws(SignetFailure) -> String? {
    guard authorization == .jws, let entry = try await store.state()?[username], let target = entry.target
    else { return nil }
    return try await DeviceSignature.make(
      of: server.signedRequest(operation, context), for: target, with: try await store.signingKey(entry),
      on: device)
  }

  /// Has the server of an account without keys forget this device, and then forgets the account.
  ///
  /// Where it is open whether the server has, the account stays until a check: a target that this device has forgotten would keep
  /// its name at the server for ever.
  ///
  /// - Parameters:
  ///   - account: The account; one with keys stays as it is.
  ///   - authorization: What lets this device see targets that it does not know the names of; without, the account stays.
  /// - Returns: Why the server could not be asked.
  /// - Throws: ``SignetFailure``.
  func forgetIfEmpty(
    _ account: UAFAccount, by authorization: UAFAuthorization? = nil
  ) async throws(SignetFailure) -> UAFDeviceServiceFailure? {
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
        // The server may have forgotten it before, or never let a device do that; then it keeps what is of no use.
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
      _ = try await clearOwnTargets(of: entry, state, at: server, by: authorization)
    } catch { throw UAFDeviceServiceFailure(error, at: server.name) }
  }
}

extension UAFDeviceServiceFailure {
  /// Whether the server has not answered, or asks to come again.
  fileprivate var isOpen: Bool {
    switch self {
    case .clockSkewTooBig: true
    case .network(let problem):
      if case .transport = problem.cause { true } else { problem.isAmbiguous || problem.mayPass }
    default: false
    }
  }
}
