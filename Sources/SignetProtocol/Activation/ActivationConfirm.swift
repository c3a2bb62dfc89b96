public import SignetCrypto
import SignetJOSE
import SignetJSON

/// The body of *confirm*, for an activation and for a renewal.
public struct ActivationConfirm: Sendable {
  /// The decrypted content of the receipt's ``SealedConfirmation``, 32 bytes; `nil` if the device does not have it.
  public let confirmation: [UInt8]?

  /// Creates a body.
  public init(confirmation: [UInt8]?) { self.confirmation = confirmation }

  /// Parses a body.
  ///
  /// - Throws: ``WireFailure`` for malformed JSON or a confirmation of another length.
  public init(parsing bytes: [UInt8]) throws(WireFailure) {
    let object = try Wire.object(bytes)
    confirmation =
      object.contains("confirmation")
      ? try object.wireBytes("confirmation", count: SealedConfirmation.byteCount) : nil
  }

  /// The body as JSON.
  public var bytes: [UInt8] {
    var object = JSONObject()
    if let confirmation { object["confirmation"] = .string(Base64URL.encode(confirmation)) }
    return JSONValue.object(object).bytes
  }
}

/// The value that *confirm* has to return: 32 bytes in the receipt, encrypted to the new encryption key.
///
/// A device that returns them proves that it has the private half of the registered encryption key (`docs/protocol.md`
/// section 3.3).
public enum SealedConfirmation {
  /// The length of a confirmation, in bytes.
  public static let byteCount = 32

  /// Encrypts a confirmation to the new encryption key with ECDH-ES and A256GCM.
  ///
  /// - Parameters:
  ///   - confirmation: The secret value, 32 bytes.
  ///   - transcript: T2 of section 3.2, 32 bytes; a device rejects a confirmation of another handshake.
  ///   - key: The encryption key that the device registers.
  /// - Returns: A compact JWE.
  /// - Throws: ``WireFailure/notAuthentic`` if the key cannot be used.
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

  /// Decrypts a confirmation and compares its transcript in constant time.
  ///
  /// - Parameters:
  ///   - jwe: The receipt's `sealed`, at most 4,096 bytes.
  ///   - key: The private half of the new encryption key.
  ///   - transcript: The device's own T2, 32 bytes.
  /// - Returns: The confirmation, 32 bytes.
  /// - Throws: ``WireFailure/notAuthentic`` if decryption fails or the transcript differs; ``WireFailure`` for bad
  ///   plaintext.
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
