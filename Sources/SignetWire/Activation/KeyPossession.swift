public import SignetCrypto
import SignetJOSE
import SignetJSON

/// The proof that a device has the private key of the signing key that it registers (`docs/protocol.md` section 3.3).
///
/// The new signing key signs the transcript, so nobody can register another's public key as their own.
public enum KeyPossession {
  /// The `typ` of the JWS.
  public static let type = "signet-possession"

  /// Signs a transcript: ES256, `kid` is the thumbprint of the new signing key.
  ///
  /// - Parameters:
  ///   - transcript: T2 of section 3.2, 32 bytes.
  ///   - key: The new signing key's public half.
  ///   - sign: Signs a message with SHA-256.
  /// - Returns: A compact JWS.
  /// - Throws: What `sign` throws.
  public static func signed<Failure: Error>(
    _ transcript: [UInt8], for key: P256.Signing.PublicKey,
    by sign: ([UInt8]) async throws(Failure) -> ECDSASignature
  ) async throws(Failure) -> String {
    try await ES256Message.signed(payload(transcript), for: key, type: type, by: sign)
  }

  /// Whether a key signed this transcript.
  ///
  /// - Parameters:
  ///   - message: What the device sent.
  ///   - key: The signing key that it registers.
  ///   - transcript: T2 as this side has it, 32 bytes.
  /// - Returns: Whether it did.
  public static func isShown(
    by message: String, of key: P256.Signing.PublicKey, transcript: [UInt8]
  ) -> Bool {
    guard let signed = ES256Message(message, type: type)?.payload(signedBy: key) else { return false }
    return constantTimeEqual(signed, payload(transcript))
  }

  /// One spelling, so that it can be compared byte by byte.
  static func payload(_ transcript: [UInt8]) -> [UInt8] {
    let object: JSONObject = [
      "version": .integer(Wire.version), "transcript": .string(Base64URL.encode(transcript)),
    ]
    return JSONValue.object(object).bytes
  }
}
