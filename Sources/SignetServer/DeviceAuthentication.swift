import SignetCrypto
import SignetHTTP
package import SignetStorage
import SignetWire

/// Finds out which container a request comes from (`docs/protocol.md` section 4).
public struct DeviceAuthentication: Sendable {
  /// How far the server's clock may be set back without a request being good again, in seconds.
  static let clockStep: Int64 = 900

  private let context: ServiceContext
  /// With their keys in OpenSSL's form, half a KiB each.
  private let signers = BoundedCache<ContainerID, Signer>(limit: 4096)

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
  ///   - isGranting: Whether its user has to be active.
  /// - Returns: The container that signed it, and the id of the request.
  /// - Throws: ``Problem/Code/unauthorized``, or ``Problem/Code/containerUnknown`` for a container that is in another state or does
  ///   not exist.
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
    // It may be another one than when it was read.
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
      throw Problem(.unauthorized, "The signature does not fit this request, or the device's clock is off.")
    }
    return proof
  }

  /// When a request's id may be forgotten: it is kept until the request would be refused for its age anyway, also by a clock
  /// that is set back.
  private func expiry(of proof: RequestProof) -> Int64 {
    context.clock.now + 2 * RequestProof.leeway + 1 + Self.clockStep
  }

  static let replayed = Problem(.unauthorized, "This request was made before; sign a new one.")
  static let unknown = Problem(.containerUnknown, "Activate the device again.")

  // MARK: Requests whose id is used up with what they ask for

  /// An active container, as far as its signatures need it, and its keys ready for use.
  struct Signer: Sendable {
    let record: SignerRecord
    let session: P256.Signing.PublicKey
    let signing: P256.Signing.PublicKey
    /// What its signature on a decision shows.
    let evidence: AuthenticationEvidence
  }

  /// A request whose signature is good; whether its signer still is the container, and its id unused, the write has to find.
  struct Signed: Sendable {
    let signer: Signer
    /// 16 bytes.
    let id: [UInt8]
    /// When the id may be forgotten.
    let expires: Int64
  }

  /// Checks a request of a container that was seen before; `nil` where it was not, and ``signed(_:)`` knows.
  func signedInMemory(_ request: ServerRequest) throws(Problem) -> Signed? {
    let signed = try Self.signed(request.headers["Authorization"])
    guard let signer = signers[signed.container] else { return nil }
    return try check(signed, of: request, by: signer)
  }

  /// Checks a request of a container as it is stored.
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
    // Only now: who has no key of ours fills no memory.
    signers[found.id] = signer
    return checked
  }

  /// Forgets a container that was seen, because it is another one by now.
  func forget(_ signer: Signer) { signers[signer.record.container] = nil }

  private func check(
    _ signed: SignedRequest, of request: ServerRequest, by signer: Signer
  ) throws(Problem) -> Signed {
    let proof = try proof(
      signed, by: signer.session, method: request.method, path: request.path.raw, body: request.body)
    return Signed(signer: signer, id: proof.id, expires: expiry(of: proof))
  }
}
