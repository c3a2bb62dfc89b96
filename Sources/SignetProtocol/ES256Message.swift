import SignetCrypto
import SignetJOSE

/// A message signed by one P-256 key: a compact JWS with ES256, whose `kid` is the key's thumbprint.
struct ES256Message: Sendable {
  private let jws: JWS

  /// Parses a message without verifying its signature; `nil` for a malformed JWS or another `typ`.
  ///
  /// - Parameters:
  ///   - text: A compact JWS.
  ///   - type: The required `typ`.
  ///   - limit: The longest text, in bytes.
  init?(_ text: String, type: String, maximumByteCount limit: Int = Wire.maximumByteCount) {
    do { jws = try JWS(compact: text, maximumByteCount: limit) } catch { return nil }
    guard jws.header.type == type else { return nil }
  }

  /// The thumbprint of the key that the sender names; not verified.
  var keyID: String? { jws.header.keyID }

  /// The payload before verification, to find the key and to report errors.
  var unverifiedPayload: [UInt8] { jws.unverifiedPayload }

  /// Returns the payload; `nil` unless this key signed the message and the header names this key.
  func payload(signedBy key: P256.Signing.PublicKey) -> [UInt8]? {
    do {
      let verified = try jws.verified(with: VerificationKey(key), allowing: [.es256])
      return verified.header.keyID == key.thumbprint ? verified.payload : nil
    } catch { return nil }
  }

  // MARK: Signing

  /// Signs a payload with a private key in this process.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` if the key cannot be used.
  static func signed(
    _ payload: [UInt8], by key: P256.Signing.PrivateKey, type: String
  ) throws(WireFailure) -> String {
    do {
      return try JWS.sign(payload, with: SigningKey(key, keyID: key.publicKey.thumbprint), type: type)
    } catch { throw .notAuthentic }
  }

  /// Signs a payload through a closure, for a key in a keystore.
  static func signed<Failure: Error>(
    _ payload: [UInt8], for key: P256.Signing.PublicKey, type: String,
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await UnsignedJWS.signed(payload, keyID: key.thumbprint, type: type, by: sign)
  }
}

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

extension UnsignedJWS {
  /// Creates an ES256 JWS over a payload, with a signature from a closure.
  static func signed<Failure: Error>(
    _ payload: [UInt8], keyID: String, type: String,
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    let unsigned: UnsignedJWS
    do throws(JOSEFailure) {
      unsigned = try UnsignedJWS(payload: payload, algorithm: .es256, keyID: keyID, type: type)
    } catch { preconditionFailure("a header without further members is refused: \(error)") }
    return unsigned.signed(bearing: try await sign(unsigned.signingInput).rawRepresentation)
  }
}
