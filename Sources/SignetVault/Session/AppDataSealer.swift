import SignetCrypto

/// Encrypts an app text incrementally.
///
/// Each call returns bytes to write; all parts in order are the encrypted text. Without ``finish()`` the text is truncated
/// and cannot be decrypted.
public struct AppDataSealer: ~Copyable, Sendable {
  private var chunks: AppDataChunks
  private var hasHeader = false

  /// Starts a text under a key that no other text has.
  package init(_ key: AppDataKey) {
    chunks = AppDataChunks(key, byteCount: AppDataFormat.chunkByteCount, Self.seal)
  }

  /// Encrypts more of the text.
  ///
  /// - Parameter text: Any number of bytes; the caller must wipe them.
  /// - Returns: Bytes to write; may be empty.
  /// - Throws: ``AppDataFailure``: `locked`, `tooLong`.
  public mutating func update(_ text: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    try header() + chunks.add(text)
  }

  /// Ends the text.
  ///
  /// - Returns: The last bytes to write.
  /// - Throws: ``AppDataFailure``: `locked`, `tooLong`.
  public consuming func finish() throws(AppDataFailure) -> [UInt8] {
    try header() + chunks.end()
  }

  private mutating func header() -> [UInt8] {
    if hasHeader { return [] }
    hasHeader = true
    return AppDataFormat.header(salt: chunks.key.salt)
  }

  private static func seal(
    _ chunk: [UInt8], _ number: UInt32?, isLast: Bool, _ key: AppDataKey
  ) throws(AppDataFailure) -> [UInt8] {
    guard let number else { throw .tooLong }
    return try key.withKey { (key) throws(AppDataFailure) in
      do throws(CryptoFailure) {
        let parts = try AESGCM.seal(chunk, key: key, nonce: AppDataFormat.nonce(number, isLast: isLast))
        return parts.ciphertext + parts.tag
      } catch { preconditionFailure("key, nonce and length are right: \(error)") }
    }
  }
}
