public import SignetCrypto
import SignetJOSE

/// A signed request as it arrived: read, but not verified (`docs/protocol.md` section 4).
public struct SignedRequest: Sendable {
  private let jws: JWS
  /// The container that the sender claims to be; not verified.
  public let container: ContainerID

  /// Parses an `Authorization` header; `nil` if it is not a signed request of at most 4,096 bytes.
  public init?(authorization: String) {
    let prefix = RequestProof.scheme + " "
    guard authorization.utf8.count <= 4096, authorization.hasPrefix(prefix) else { return nil }
    do {
      jws = try JWS(compact: String(authorization.dropFirst(prefix.count)), maximumByteCount: 4096)
      guard jws.header.type == RequestProof.type, let id = jws.header.keyID else { return nil }
      container = try ContainerID(id)
    } catch { return nil }
  }

  /// Returns the verified proof; `nil` if the session key did not sign it or its payload is malformed.
  public func proof(verifiedWith key: P256.Signing.PublicKey) -> RequestProof? {
    do {
      let verified = try jws.verified(with: VerificationKey(key), allowing: [.es256])
      return try RequestProof(parsing: verified.payload)
    } catch { return nil }
  }
}

extension RequestProof {
  /// Signs the proof with ES256 for the `Authorization` header; `kid` is the container id.
  ///
  /// - Parameters:
  ///   - container: The container that owns the session key.
  ///   - sign: Signs a message with ECDSA and SHA-256.
  /// - Returns: The scheme's name and a compact JWS.
  /// - Throws: The error that `sign` throws.
  public func authorization<Failure: Error>(
    container: ContainerID, by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    "\(Self.scheme) \(try await UnsignedJWS.signed(bytes, keyID: container.text, type: Self.type, by: sign))"
  }
}
