public import SignetCrypto
import SignetJOSE
import SignetJSON

/// What *confirm* has to return: 32 bytes that the receipt carries, encrypted to the new encryption key.
///
/// Who returns them has the private key of the encryption key that was registered (`docs/protocol.md` section 3.3).
public enum SealedConfirmation {
  /// The bytes of a confirmation.
  public static let byteCount = 32

  /// Encrypts a confirmation to the new encryption key: ECDH-ES and A256GCM.
  ///
  /// - Parameters:
  ///   - confirmation: 32 bytes.
  ///   - transcript: T2 of section 3.2, 32 bytes: the device opens none of another handshake.
  ///   - key: The encryption key that the device registers.
  /// - Returns: A JWE.
  /// - Throws: ``WireFailure/notAuthentic`` when the key can't be used.
  public static func seal(
    _ confirmation: [UInt8], transcript: [UInt8], to key: P256.KeyAgreement.PublicKey
  ) throws(WireFailure) -> String {
    let object: JSONObject = [
      "version": .integer(Wire.version), "transcript": .string(Base64URL.encode(transcript)),
      "confirmation": .string(Base64URL.encode(confirmation)),
    ]
    do {
      return try JWE.encrypt(JSONValue.object(object).bytes, for: EncryptionKey(key), .ecdhES, .a256GCM)
    } catch { throw .notAuthentic }
  }

  /// Decrypts a confirmation.
  ///
  /// - Parameters:
  ///   - jwe: The receipt's `sealed`.
  ///   - key: The new encryption key.
  ///   - transcript: T2 as this side has it, 32 bytes.
  /// - Returns: 32 bytes.
  /// - Throws: ``WireFailure``.
  public static func open(
    _ jwe: String, with key: P256.KeyAgreement.PrivateKey, transcript: [UInt8]
  ) throws(WireFailure) -> [UInt8] {
    let plaintext: [UInt8]
    do {
      plaintext = try JWE(compact: jwe, maximumByteCount: 4096).decrypted(
        with: DecryptionKey(key), allowing: [.ecdhES], [.a256GCM]
      ).plaintext
    } catch { throw .notAuthentic }
    let object = try Wire.object(plaintext)
    try Wire.checkVersion(object)
    guard constantTimeEqual(try object.wireBytes("transcript", count: 32), transcript) else {
      throw .notAuthentic
    }
    return try object.wireBytes("confirmation", count: byteCount)
  }
}
