import SignetJSON
import SignetTransport
import SignetUAF

extension UAFOperations {
  /// Removes a user's authenticator, or all of them, from the server and from this device.
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
    let signature = try await kept(await signature(of: username, where: authorization))
    let request: ReturnUAFRequest
    do throws(UAFNetworkProblem) {
      request = try await server.request(
        .deregistration, Self.deregistration(of: username, aaid, nil), by: authorization,
        signature: signature
      ).content
    } catch { throw UAFOperationFailure(error) }
    let gone = try await deregister(request, at: server) { $0.isOf(username) }
    try await kept(await forgetIfEmpty(entry.account))
    return gone
  }

  /// Deletes what a server says is gone, of those keys that it may say that of.
  func deregister(
    _ request: ReturnUAFRequest, at server: UAFServer, where isMeant: (UAFKey) -> Bool
  ) async throws(UAFOperationFailure) -> [UAFKey] {
    let message = try self.message(of: request, .deregistration, at: server)
    do throws(UAFFailure) {
      guard case .deregistration(let deregistration) = try await client.open(message) else {
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
    of username: String, where authorization: UAFAuthorization?
  ) async throws(SignetFailure) -> String? {
    guard authorization == .jws, let entry = try await store.state()?[username], let target = entry.target
    else { return nil }
    return try await DeviceSignature.make(for: target, with: try await store.signingKey(entry), on: device)
  }

  /// Forgets an account without keys, and has its server forget this device.
  func forgetIfEmpty(_ account: UAFAccount) async throws(SignetFailure) {
    guard try await keys(of: account.username).isEmpty else { return }
    if let entry = try await store.state()?[account.username], let target = entry.target {
      // The server may have forgotten it before, or be out of reach; then it keeps what is of no use.
      do throws(UAFDeviceServiceFailure) { try await removeTarget(target, of: entry) } catch {}
    }
    try await store.forget(account.username)
  }
}
