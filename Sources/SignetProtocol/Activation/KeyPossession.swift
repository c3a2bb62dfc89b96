public import SignetCrypto
import SignetJOSE
import SignetJSON

/// The proof that a device has the private half of the signing key that it registers (`docs/protocol.md` section 3.3).
///
/// The new signing key signs the transcript. Without this proof an attacker could register another user's public key.
public enum KeyPossession {
  /// The `typ` of the JWS.
  public static let type = "signet-possession"

  /// Signs a transcript with ES256; `kid` is the thumbprint of the new signing key.
  ///
  /// - Parameters:
  ///   - transcript: T2 of section 3.2, 32 bytes.
  ///   - key: The public half of the new signing key.
  ///   - sign: Signs a message with ECDSA and SHA-256.
  /// - Returns: A compact JWS.
  /// - Throws: The error that `sign` throws.
  public static func signed<Failure: Error>(
    _ transcript: [UInt8], for key: P256.Signing.PublicKey,
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await ES256Message.signed(payload(transcript), for: key, type: type, by: sign)
  }

  /// Verifies that a key signed this transcript.
  ///
  /// - Parameters:
  ///   - message: The JWS that the device sent.
  ///   - key: The signing key that the device registers.
  ///   - transcript: The verifier's own T2, 32 bytes.
  /// - Returns: True if the signature verifies and covers this transcript.
  public static func isShown(
    by message: String, of key: P256.Signing.PublicKey, transcript: [UInt8]
  ) -> Bool {
    guard let signed = ES256Message(message, type: type)?.payload(signedBy: key) else { return false }
    return constantTimeEqual(signed, payload(transcript))
  }

  /// The payload in its only accepted encoding, so that a byte comparison decides.
  static func payload(_ transcript: [UInt8]) -> [UInt8] {
    let object: JSONObject = [
      "version": .integer(Wire.version), "transcript": .string(Base64URL.encode(transcript)),
    ]
    return JSONValue.object(object).bytes
  }
}
