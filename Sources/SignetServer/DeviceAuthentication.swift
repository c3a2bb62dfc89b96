import SignetCrypto
import SignetHTTPServer
import SignetProtocol
package import SignetStorage
import SignetSystem

/// Authenticates the container of a request (`docs/protocol.md` section 4).
package struct DeviceAuthentication: Sendable {
  /// The largest step back of the server's clock that does not allow replays, in seconds.
  static let clockStep: Int64 = 900

  private let context: ServiceContext
  /// Each entry has its keys in OpenSSL's form, half a KiB.
  private let signers = BoundedCache<ContainerID, Signer>(limit: 4096)

  /// Creates the authentication of a context.
  package init(_ context: ServiceContext) { self.context = context }

  /// Verifies a request and claims its id, so that a replay is rejected.
  ///
  /// - Parameters:
  ///   - authorization: The `Authorization` header.
  ///   - method: The request's method.
  ///   - path: Its path as sent, without the query.
  ///   - body: Its body.
  ///   - states: The states in which a container may make this request.
  ///   - isGranting: True if its user must be active.
  /// - Returns: The container that signed it, and the id of the request.
  /// - Throws: ``Problem/Code/unauthorized``, or ``Problem/Code/containerUnknown`` for a container that is in another state
  ///   or does not exist.
  package func request(
    authorization: String?, method: String, path: String, body: [UInt8],
    states: Set<ContainerRecord.State> = [.active], isGranting: Bool = true
  ) async throws -> DeviceCaller {
    let signed = try Self.signed(authorization)
    let found = try await context.storage.container(signed.container)
    guard let container = found, states.contains(container.state) else {
      throw Self.unknown
    }
    let key = try P256.Signing.PublicKey(x963: container.sessionKey)
    let proof = try proof(signed, by: key, method: method, path: path, body: body)
    let claimed = try await context.storage.claimRequest(
      proof.id, of: container.id, in: states, expires: expiry(of: proof), isGranting: isGranting)
    // The claim returns the container as stored now; it may have changed since the read.
    guard let claimed else { throw Self.replayed }
    return DeviceCaller(container: claimed, request: proof.id)
  }

  private static func signed(_ authorization: String?) throws(Problem) -> SignedRequest {
    guard let authorization, let signed = SignedRequest(authorization: authorization) else {
      throw Problem(.unauthorized, "Send \"Authorization: Signet\" and a signed request.")
    }
    return signed
  }

  private func proof(
    _ signed: SignedRequest, by key: P256.Signing.PublicKey, method: String, path: String, body: [UInt8]
  ) throws(Problem) -> RequestProof {
    guard let proof = signed.proof(verifiedWith: key),
      proof.covers(method: method, path: path, body: body, now: context.clock.now)
    else {
      throw Problem(
        .unauthorized, "The signature does not match this request, or the device's clock is wrong.")
    }
    return proof
  }

  /// Returns the time when a request's id may be deleted.
  ///
  /// The id is kept until the request would be rejected for its age, even if the clock is set back.
  private func expiry(of proof: RequestProof) -> Int64 {
    context.clock.now + 2 * RequestProof.leeway + 1 + Self.clockStep
  }

  static let replayed = Problem(.unauthorized, "This request was sent before; sign a new one.")
  static let unknown = Problem(.containerUnknown, "Activate the device again.")

  // MARK: Requests whose id is claimed with their change

  /// An active container's data for verifying its signatures, with parsed keys.
  struct Signer: Sendable {
    let record: SignerRecord
    let session: P256.Signing.PublicKey
    let signing: P256.Signing.PublicKey
    /// The evidence of its signature on a decision.
    let evidence: AuthenticationEvidence
  }

  /// A request with a valid signature.
  ///
  /// The storage step must still check that the signer is unchanged and the id unused.
  struct Signed: Sendable {
    let signer: Signer
    /// The id of the request, 16 bytes.
    let id: [UInt8]
    /// The time when the id may be deleted, in seconds since 1970.
    let expires: Int64
  }

  /// Verifies a request of a cached container; returns `nil` if it is not cached and ``signed(_:)`` must read it.
  func signedInMemory(_ request: ServerRequest) throws(Problem) -> Signed? {
    let signed = try Self.signed(request.headers["Authorization"])
    guard let signer = signers[signed.container] else { return nil }
    return try check(signed, of: request, by: signer)
  }

  /// Verifies a request of a stored container.
  func signed(_ request: ServerRequest) async throws -> Signed {
    let signed = try Self.signed(request.headers["Authorization"])
    let found = try await context.storage.container(signed.container)
    guard let found, found.state == .active else { throw Self.unknown }
    let signer = Signer(
      record: SignerRecord(found),
      session: try P256.Signing.PublicKey(x963: found.sessionKey),
      signing: try P256.Signing.PublicKey(x963: found.signingKey),
      evidence: AuthenticationEvidence(of: found, isSigned: true))
    let checked = try check(signed, of: request, by: signer)
    // Cached only after the signature verified, so that an attacker without a key cannot fill the cache.
    signers[found.id] = signer
    return checked
  }

  /// Removes a container from the cache because it has changed.
  func forget(_ signer: Signer) { signers[signer.record.container] = nil }

  private func check(
    _ signed: SignedRequest, of request: ServerRequest, by signer: Signer
  ) throws(Problem) -> Signed {
    let proof = try proof(
      signed, by: signer.session, method: request.method, path: request.path.raw, body: request.body)
    return Signed(signer: signer, id: proof.id, expires: expiry(of: proof))
  }
}
