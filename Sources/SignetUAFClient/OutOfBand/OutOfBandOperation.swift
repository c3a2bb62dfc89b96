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

/// A registration that another device or the server started.
public struct OutOfBandRegistration: Sendable {
  private let operations: UAFOperations
  private let server: UAFServer
  private let request: ReturnUAFRequest

  init(_ operations: UAFOperations, _ server: UAFServer, _ request: ReturnUAFRequest) {
    self.operations = operations
    self.server = server
    self.request = request
  }

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
      return try await operations.register(request, at: server, as: nil, newDevice, nil, options)
    } catch { throw UAFOperationFailure(thrown: error).signetError }
  }
}

/// An authentication that another device or the server started.
public struct OutOfBandAuthentication: Sendable {
  private let operations: UAFOperations
  private let server: UAFServer
  private let request: ReturnUAFRequest

  init(_ operations: UAFOperations, _ server: UAFServer, _ request: ReturnUAFRequest) {
    self.operations = operations
    self.server = server
    self.request = request
  }

  /// Lets the user select an account and an authenticator, and authenticates.
  ///
  /// - Returns: The authorization that the server grants; `nil` if it grants none.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func run() async throws(SignetError) -> UAFAuthorization? {
    var login: UAFAuthorization?
    do {
      return try await operations.authenticate(request, at: server, as: nil, &login)
    } catch { throw UAFOperationFailure(thrown: error).signetError }
  }
}

/// A deregistration that another device or the server started.
public struct OutOfBandDeregistration: Sendable {
  private let operations: UAFOperations
  private let server: UAFServer
  private let request: ReturnUAFRequest

  init(_ operations: UAFOperations, _ server: UAFServer, _ request: ReturnUAFRequest) {
    self.operations = operations
    self.server = server
    self.request = request
  }

  /// Deletes the keys that the server has deregistered, limited to the accounts of that server.
  ///
  /// - Returns: The keys that were deleted from this device.
  /// - Throws: ``SignetError``.
  @discardableResult
  public func run() async throws(SignetError) -> [UAFKey] {
    let state = try await operations.store.state()
    let deleted: [UAFKey]
    do {
      deleted = try await operations.deregister(request, at: server) { key in
        state?[key.username]?.account.server == server.name
      }
    } catch { throw UAFOperationFailure(thrown: error).signetError }
    for username in Set(deleted.map(\.username)) {
      _ = try await operations.forgetIfEmpty(UAFAccount(username: username, server: server.name))
    }
    return deleted
  }
}
