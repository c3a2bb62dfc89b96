public import SignetCrypto
import SignetJOSE

/// The two proofs of an activation: JWS under keys that only a side that knows the invite can derive.
public enum SignedMessage {
  /// The `typ` of the device's proof.
  public static let activationType = "signet-activation"
  /// The `typ` of the server's proof.
  public static let receiptType = "signet-receipt"

  /// Creates a proof: an HS256 JWS over the payload.
  ///
  /// - Parameters:
  ///   - payload: The bytes that the proof covers.
  ///   - key: The MAC key, 32 bytes.
  ///   - type: The `typ` of the JWS.
  /// - Returns: A compact JWS.
  /// - Throws: ``WireFailure/notAuthentic`` for a key of another length.
  public static func sign(
    _ payload: [UInt8], key: borrowing SecretBytes, type: String
  ) throws(WireFailure) -> String {
    do {
      return try JWS.sign(payload, with: SigningKey(hmac: key), type: type)
    } catch { throw .notAuthentic }
  }

  /// Returns the payload of a proof before verification, to find the key; do not use it for anything else.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` for a malformed JWS.
  public static func unverifiedPayload(of message: String) throws(WireFailure) -> [UInt8] {
    do {
      return try JWS(compact: message, maximumByteCount: Wire.maximumByteCount).unverifiedPayload
    } catch { throw .notAuthentic }
  }

  /// Verifies a proof and returns its payload; `nil` unless it is HS256 under this key and has this `typ`.
  public static func verify(_ message: String, key: borrowing SecretBytes, type: String) -> [UInt8]? {
    do {
      let verified = try JWS(compact: message, maximumByteCount: Wire.maximumByteCount)
        .verified(with: VerificationKey(hmac: key), allowing: [.hs256])
      return verified.header.type == type ? verified.payload : nil
    } catch { return nil }
  }
}
