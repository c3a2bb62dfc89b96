public import SignetCrypto
import SignetJOSE

/// The two proofs of an activation: JWS under a key that only who knows the invite can derive.
public enum SignedMessage {
  /// The `typ` of the device's proof.
  public static let activationType = "signet-activation"
  /// The `typ` of the server's proof.
  public static let receiptType = "signet-receipt"

  /// Makes a proof: HS256 over the payload.
  ///
  /// - Parameters:
  ///   - payload: What is proved.
  ///   - key: 32 bytes.
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

  /// The payload of a proof that is still to be checked: good for finding the key, and for nothing else.
  ///
  /// - Throws: ``WireFailure/notAuthentic`` for what is no JWS.
  public static func unverifiedPayload(of message: String) throws(WireFailure) -> [UInt8] {
    do {
      return try JWS(compact: message, maximumByteCount: Wire.maximumByteCount).unverifiedPayload
    } catch { throw .notAuthentic }
  }

  /// The payload of a proof; `nil` unless it is HS256 under this key and of this type.
  public static func verify(_ message: String, key: borrowing SecretBytes, type: String) -> [UInt8]? {
    do {
      let verified = try JWS(compact: message, maximumByteCount: Wire.maximumByteCount)
        .verified(with: VerificationKey(hmac: key), allowing: [.hs256])
      return verified.header.type == type ? verified.payload : nil
    } catch { return nil }
  }
}
