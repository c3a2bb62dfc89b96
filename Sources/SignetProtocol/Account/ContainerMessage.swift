import SignetCrypto
import SignetJOSE

/// A message with its own signature by a container's session key: a compact JWS with ES256, whose `kid` is the container id.
struct ContainerMessage: Sendable {
  private let jws: JWS
  /// The container that the sender claims to be; not verified.
  let container: ContainerID

  /// Parses a message without verifying its signature.
  ///
  /// - Throws: ``WireFailure`` for a malformed JWS, another `typ` or a `kid` that is no container id.
  init(_ text: String, type: String) throws(WireFailure) {
    do { jws = try JWS(compact: text, maximumByteCount: Wire.maximumByteCount) } catch { throw .notAuthentic }
    guard jws.header.type == type, let id = jws.header.keyID else { throw .notAuthentic }
    container = try ContainerID(id)
  }

  /// Returns the payload; `nil` if the key did not sign it.
  func payload(verifiedWith key: P256.Signing.PublicKey) -> [UInt8]? {
    do { return try jws.verified(with: VerificationKey(key), allowing: [.es256]).payload } catch {
      return nil
    }
  }
}
