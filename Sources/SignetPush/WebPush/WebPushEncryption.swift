package import SignetCrypto
package import SignetProtocol

/// The encryption of Web Push (RFC 8291), one record of `aes128gcm` (RFC 8188).
package enum WebPushEncryption {
  /// The longest message, in bytes: a record of 4,096 bytes less the header of 86 bytes, the tag and the delimiter.
  static let maximumByteCount = 4_096 - 86 - AESGCM.tagByteCount - 1
  private static let recordByteCount: UInt32 = 4_096

  /// Encrypts a message to a subscription.
  ///
  /// - Parameters:
  ///   - message: At most ``maximumByteCount`` bytes.
  ///   - subscription: The recipient's subscription.
  ///   - sender: A new key, used for this message only.
  ///   - salt: 16 new random bytes, used for this message only.
  /// - Returns: The body of the request.
  /// - Throws: `CryptoFailure` if the key agreement or the encryption fails.
  package static func encrypt(
    _ message: [UInt8], to subscription: WebPushSubscription, sender: P256.KeyAgreement.PrivateKey,
    salt: [UInt8]
  ) throws(CryptoFailure) -> [UInt8] {
    precondition(message.count <= maximumByteCount && salt.count == 16, "a message of Web Push is one record")
    let senderPoint = sender.publicKey.x963Representation
    let sharedSecret = try sender.sharedSecret(with: subscription.key)
    // RFC 8291 section 3.4.
    let input = HKDF.derive(
      inputKey: sharedSecret, salt: subscription.secret,
      info: Array("WebPush: info".utf8) + [0] + subscription.key.x963Representation + senderPoint,
      byteCount: 32, .sha256)
    // RFC 8188 sections 2.2 and 2.3.
    let key = HKDF.derive(
      inputKey: input, salt: salt, info: Array("Content-Encoding: aes128gcm".utf8) + [0], byteCount: 16,
      .sha256)
    let nonce = HKDF.derive(
      inputKey: input, salt: salt, info: Array("Content-Encoding: nonce".utf8) + [0], byteCount: 12, .sha256)
    let sealed = try AESGCM.seal(message + [2], key: key, nonce: nonce.insecureCopy())
    let header = salt + recordByteCount.bigEndianBytes + [UInt8(senderPoint.count)] + senderPoint
    return header + sealed.ciphertext + sealed.tag
  }
}

extension UInt32 {
  fileprivate var bigEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
}
