import SignetCrypto
import SignetJOSE

/// A message that a container's session key signed apart from a request: a compact JWS with ES256, whose `kid` is the container id.
struct ContainerMessage: Sendable {
  private let jws: JWS
  /// Which container the sender says it is.
  let container: ContainerID

  /// Reads a message whose signature is still to be verified.
  ///
  /// - Throws: ``WireFailure``.
  init(_ text: String, type: String) throws(WireFailure) {
    do { jws = try JWS(compact: text, maximumByteCount: Wire.maximumByteCount) } catch { throw .notAuthentic }
    guard jws.header.type == type, let id = jws.header.keyID else { throw .notAuthentic }
    container = try ContainerID(id)
  }

  /// The payload; `nil` unless the key signed it.
  func payload(verifiedWith key: P256.Signing.PublicKey) -> [UInt8]? {
    do { return try jws.verified(with: VerificationKey(key), allowing: [.es256]).payload } catch {
      return nil
    }
  }
}
