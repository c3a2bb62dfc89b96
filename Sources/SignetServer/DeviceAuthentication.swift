import SignetCrypto
public import SignetStorage
public import SignetWire

/// Finds out which container a request comes from (`docs/protocol.md` section 4).
public struct DeviceAuthentication: Sendable {
  /// How far the server's clock may be set back without a request being good again, in seconds.
  static let clockStep: Int64 = 900

  private let context: ServiceContext

  /// Over a context.
  public init(_ context: ServiceContext) { self.context = context }

  /// Checks a request and uses its id up.
  ///
  /// - Parameters:
  ///   - authorization: The `Authorization` header.
  ///   - method: The request's method.
  ///   - path: Its path as sent, without the query.
  ///   - body: Its body.
  ///   - states: The states in which a container may make this request.
  /// - Returns: The container that signed it.
  /// - Throws: ``Problem/Code/unauthorized``, or ``Problem/Code/containerUnknown`` for a container that is in another state or does
  ///   not exist.
  public func container(
    authorization: String?, method: String, path: String, body: [UInt8],
    states: Set<ContainerRecord.State> = [.active]
  ) async throws(Problem) -> ContainerRecord {
    try await request(
      authorization: authorization, method: method, path: path, body: body, states: states
    ).container
  }

  /// Checks a request as ``container(authorization:method:path:body:states:)`` does.
  ///
  /// - Parameters:
  ///   - authorization: The `Authorization` header.
  ///   - method: The request's method.
  ///   - path: Its path as sent, without the query.
  ///   - body: Its body.
  ///   - states: The states in which a container may make this request.
  /// - Returns: The container that signed it, and the request's id, 16 bytes.
  /// - Throws: ``Problem``.
  func request(
    authorization: String?, method: String, path: String, body: [UInt8],
    states: Set<ContainerRecord.State> = [.active]
  ) async throws(Problem) -> (container: ContainerRecord, id: [UInt8]) {
    guard let authorization, let signed = SignedRequest(authorization: authorization) else {
      throw Problem(.unauthorized, "Send \"Authorization: Signet\" and a signed request.")
    }
    let found = try await context.stored(await context.storage.container(signed.container.text))
    guard let container = found, states.contains(container.state) else {
      throw Problem(.containerUnknown, "Activate the device again.")
    }
    let key = try context.computed(P256.Signing.PublicKey(x963: container.sessionKey))
    let now = context.clock.now
    guard let proof = signed.proof(verifiedWith: key),
      proof.covers(method: method, path: path, body: body, now: now)
    else {
      throw Problem(.unauthorized, "The signature does not fit this request, or the device's clock is off.")
    }
    // The id is kept until the request would be refused for its age anyway, also by a clock that is set back.
    let isFirst = try await context.stored(
      await context.storage.claimRequest(
        proof.id, container: container.id, expires: now + 2 * RequestProof.leeway + 1 + Self.clockStep))
    guard isFirst else { throw Problem(.unauthorized, "This request was made before; sign a new one.") }
    return (container, proof.id)
  }
}
