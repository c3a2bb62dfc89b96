public import SignetCrypto
import SignetJOSE

/// A device's signature over a request, as it arrived: read, but not verified (`docs/protocol.md` section 4).
public struct SignedRequest: Sendable {
  private let jws: JWS
  /// Which container the sender says it is.
  public let container: ContainerID

  /// Reads an `Authorization` header; `nil` for anything but a signed request of ours.
  public init?(authorization: String) {
    let prefix = RequestProof.scheme + " "
    guard authorization.utf8.count <= 4096, authorization.hasPrefix(prefix) else { return nil }
    do {
      jws = try JWS(compact: String(authorization.dropFirst(prefix.count)), maximumByteCount: 4096)
      guard jws.header.type == RequestProof.type, let id = jws.header.keyID else { return nil }
      container = try ContainerID(id)
    } catch { return nil }
  }

  /// What was signed; `nil` unless the session key signed it.
  public func proof(verifiedWith key: P256.Signing.PublicKey) -> RequestProof? {
    do {
      let verified = try jws.verified(with: VerificationKey(key), allowing: [.es256])
      return try RequestProof(parsing: verified.payload)
    } catch { return nil }
  }
}

extension RequestProof {
  /// The value of the `Authorization` header: ES256, `kid` is the container id.
  ///
  /// - Parameters:
  ///   - container: Whose key it is.
  ///   - sign: Signs a message with SHA-256.
  /// - Returns: The scheme's name and a JWS.
  /// - Throws: What `sign` throws.
  public func authorization<Failure: Error>(
    container: ContainerID, by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    "\(Self.scheme) \(try await UnsignedJWS.signed(bytes, keyID: container.text, type: Self.type, by: sign))"
  }
}
