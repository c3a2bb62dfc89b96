import SignetCrypto

/// Decrypts an app text incrementally.
///
/// Each returned part is authentic and in the right position. Only ``finish()`` verifies that the text is complete. Code
/// that acts on parts before that must be able to undo its actions.
public struct AppDataOpener: ~Copyable, Sendable {
  private var chunks: AppDataChunks

  /// Starts with the bytes after the header.
  package init(_ key: AppDataKey) {
    chunks = AppDataChunks(
      key, byteCount: AppDataFormat.chunkByteCount + AppDataFormat.tagByteCount, Self.open)
  }

  /// Decrypts more bytes.
  ///
  /// - Parameter sealed: The next bytes after the header, any number of them.
  /// - Returns: The text that is authenticated so far; it may be empty.
  /// - Throws: ``AppDataFailure``: `locked`, `damaged`; after `damaged`, every call throws it again.
  public mutating func update(_ sealed: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    try chunks.add(sealed)
  }

  /// Decrypts the rest and verifies that the text is complete.
  ///
  /// - Returns: The end of the text.
  /// - Throws: ``AppDataFailure``: `locked`; `damaged` also if the end is missing.
  public consuming func finish() throws(AppDataFailure) -> [UInt8] { try chunks.end() }

  private static func open(
    _ chunk: [UInt8], _ number: UInt32?, isLast: Bool, _ key: AppDataKey
  ) throws(AppDataFailure) -> [UInt8] {
    guard let number, chunk.count >= AppDataFormat.tagByteCount else { throw .damaged }
    let nonce = AppDataFormat.nonce(number, isLast: isLast)
    let text = try key.withKey { (key) throws(AppDataFailure) -> [UInt8]? in
      do throws(CryptoFailure) {
        return try AESGCM.openBytes(
          Array(chunk.dropLast(AppDataFormat.tagByteCount)),
          tag: Array(chunk.suffix(AppDataFormat.tagByteCount)), key: key, nonce: nonce)
      } catch { return nil }
    }
    // The encoding is unique: an empty chunk is valid only as the whole text.
    guard let text, !text.isEmpty || number == 0 else { throw .damaged }
    return text
  }
}
