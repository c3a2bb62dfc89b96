import SignetCrypto
import SignetJOSE

/// A message that one P-256 key signed: a compact JWS with ES256, whose `kid` is the key's thumbprint and whose `typ` says
/// what it is.
struct ES256Message: Sendable {
  private let jws: JWS

  /// Reads a message whose signature is still to be verified; `nil` for what is no JWS of this type.
  ///
  /// - Parameters:
  ///   - text: A compact JWS.
  ///   - type: The `typ` that it has to have.
  ///   - limit: The longest text, in bytes.
  init?(_ text: String, type: String, maximumByteCount limit: Int = Wire.maximumByteCount) {
    do { jws = try JWS(compact: text, maximumByteCount: limit) } catch { return nil }
    guard jws.header.type == type else { return nil }
  }

  /// The thumbprint of the key that the signer names; anyone may have written it.
  var keyID: String? { jws.header.keyID }

  /// The payload, which anyone may have written: for finding the key, and for saying what is wrong.
  var unverifiedPayload: [UInt8] { jws.unverifiedPayload }

  /// The payload; `nil` unless this key signed it, and the header names the key.
  func payload(signedBy key: P256.Signing.PublicKey) -> [UInt8]? {
    do {
      let verified = try jws.verified(with: VerificationKey(key), allowing: [.es256])
      return verified.header.keyID == key.thumbprint ? verified.payload : nil
    } catch { return nil }
  }

  // MARK: Signing

  /// Signs a payload with a key that this process has.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
  static func signed(
    _ payload: [UInt8], by key: P256.Signing.PrivateKey, type: String
  ) throws(WireFailure) -> String {
    do {
      return try JWS.sign(payload, with: SigningKey(key, keyID: key.publicKey.thumbprint), type: type)
    } catch { throw .notAuthentic }
  }

  /// Signs a payload with whatever has the key.
  static func signed<Failure: Error>(
    _ payload: [UInt8], for key: P256.Signing.PublicKey, type: String,
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await UnsignedJWS.signed(payload, keyID: key.thumbprint, type: type, by: sign)
  }
}
