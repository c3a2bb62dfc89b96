import SignetUAF

/// What a redeemed token stands for; run it once, soon.
public enum OutOfBandOperation: Sendable {
  /// A registration.
  case registration(OutOfBandRegistration)
  /// An authentication, perhaps of a transaction.
  case authentication(OutOfBandAuthentication)
  /// A deregistration, which is done at the server.
  case deregistration(OutOfBandDeregistration)
}

/// A registration that began elsewhere.
public struct OutOfBandRegistration: Sendable {
  private let operations: UAFOperations
  private let server: UAFServer
  private let request: ReturnUAFRequest

  init(_ operations: UAFOperations, _ server: UAFServer, _ request: ReturnUAFRequest) {
    (self.operations, self.server, self.request) = (operations, server, request)
  }

  /// Registers an authenticator for the user who began it.
  ///
  /// - Parameters:
  ///   - newDevice: What this device is called; counts with the first registration.
  ///   - options: How the keys are protected.
  /// - Returns: The account, and what was registered.
  /// - Throws: ``UAFOperationFailure``.
  @discardableResult
  public func run(
    device newDevice: UAFNewDevice, options: UAFKeyOptions = UAFKeyOptions()
  ) async throws(UAFOperationFailure) -> UAFRegistrationOutcome {
    try await operations.register(request, at: server, as: nil, newDevice, nil, options)
  }
}

/// An authentication that began elsewhere.
public struct OutOfBandAuthentication: Sendable {
  private let operations: UAFOperations
  private let server: UAFServer
  private let request: ReturnUAFRequest

  init(_ operations: UAFOperations, _ server: UAFServer, _ request: ReturnUAFRequest) {
    (self.operations, self.server, self.request) = (operations, server, request)
  }

  /// Has the person choose an account and an authenticator, and authenticates.
  ///
  /// - Returns: What lets the user go on at the server; `nil` where it gives none.
  /// - Throws: ``UAFOperationFailure``.
  @discardableResult
  public func run() async throws(UAFOperationFailure) -> UAFAuthorization? {
    var login: UAFAuthorization?
    return try await operations.authenticate(request, at: server, as: nil, &login)
  }
}

/// A deregistration that began elsewhere.
public struct OutOfBandDeregistration: Sendable {
  private let operations: UAFOperations
  private let server: UAFServer
  private let request: ReturnUAFRequest

  init(_ operations: UAFOperations, _ server: UAFServer, _ request: ReturnUAFRequest) {
    (self.operations, self.server, self.request) = (operations, server, request)
  }

  /// Deletes what the server has forgotten, of its own accounts.
  ///
  /// - Returns: The keys that are gone from this device.
  /// - Throws: ``UAFOperationFailure``.
  @discardableResult
  public func run() async throws(UAFOperationFailure) -> [UAFKey] {
    let state = try await operations.kept(await operations.store.state())
    let gone = try await operations.deregister(request, at: server) { key in
      state?[key.username]?.account.server == server.name
    }
    for username in Set(gone.map(\.username)) {
      _ = try await operations.kept(
        await operations.forgetIfEmpty(UAFAccount(username: username, server: server.name)))
    }
    return gone
  }
}
