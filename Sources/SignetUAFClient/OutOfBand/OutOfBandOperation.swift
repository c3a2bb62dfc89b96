import SignetUAF

/// An operation from a redeemed token; run it once, soon after redeeming.
public enum OutOfBandOperation: Sendable {
  /// A registration.
  case registration(OutOfBandRegistration)
  /// An authentication, with or without a transaction.
  case authentication(OutOfBandAuthentication)
  /// A deregistration that the server has already carried out.
  case deregistration(OutOfBandDeregistration)
}

/// The request that the server returned for a token.
struct RedeemedRequest: Sendable {
  let operations: UAFOperations
  let server: UAFServer
  let request: ReturnUAFRequest
}

/// A registration that another device or the server started.
public struct OutOfBandRegistration: Sendable {
  let redeemed: RedeemedRequest

  /// Registers an authenticator for the user of the request.
  ///
  /// - Parameters:
  ///   - newDevice: The name and push token of this device; used at the first registration only.
  ///   - options: The protection of the keys.
  /// - Returns: The account and the registered authenticators.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func run(
    device newDevice: UAFNewDevice, options: UAFKeyOptions = UAFKeyOptions()
  ) async throws(SignetError) -> UAFRegistrationOutcome {
    do {
      return try await redeemed.operations.register(
        redeemed.request, at: redeemed.server, as: nil, newDevice, nil, options)
    } catch { throw UAFOperationFailure(thrown: error).signetError }
  }
}

/// An authentication that another device or the server started.
public struct OutOfBandAuthentication: Sendable {
  let redeemed: RedeemedRequest

  /// Lets the user select an account and an authenticator, and authenticates.
  ///
  /// - Returns: The authorization that the server grants; `nil` if it grants none.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func run() async throws(SignetError) -> UAFAuthorization? {
    var login: UAFAuthorization?
    do {
      return try await redeemed.operations.authenticate(
        redeemed.request, at: redeemed.server, as: nil, &login)
    } catch { throw UAFOperationFailure(thrown: error).signetError }
  }
}

/// A deregistration that another device or the server started.
public struct OutOfBandDeregistration: Sendable {
  let redeemed: RedeemedRequest

  /// Deletes the keys that the server has deregistered, limited to the accounts of that server.
  ///
  /// - Returns: The keys that were deleted from this device.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func run() async throws(SignetError) -> [UAFKey] {
    let (operations, server) = (redeemed.operations, redeemed.server)
    let state = try await operations.store.state()
    let deleted: [UAFKey]
    do {
      deleted = try await operations.deregister(redeemed.request, at: server) { key in
        state?[key.username]?.account.server == server.name
      }
    } catch { throw UAFOperationFailure(thrown: error).signetError }
    for username in Set(deleted.map(\.username)) {
      _ = try await operations.forgetIfEmpty(UAFAccount(username: username, server: server.name))
    }
    return deleted
  }
}
