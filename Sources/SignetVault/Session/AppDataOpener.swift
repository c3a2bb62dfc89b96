import SignetCrypto

/// Decrypts a text of an app piece by piece.
///
/// What a call returns is authentic and in its place. Whether it is all of the text only ``finish()`` tells: what acts on parts
/// must be able to take it back.
public struct AppDataOpener: ~Copyable, Sendable {
  private var chunks: AppDataChunks

  /// Begins with what follows the header.
  package init(_ key: AppDataKey) {
    chunks = AppDataChunks(
      key, byteCount: AppDataFormat.chunkByteCount + AppDataFormat.tagByteCount, Self.open)
  }

  /// Decrypts more.
  ///
  /// - Parameter sealed: The next bytes after the header, any number of them.
  /// - Returns: The text that is certain by now, which may be nothing yet.
  /// - Throws: ``AppDataFailure``: `locked`, `damaged`; all calls that follow `damaged` throw it again.
  public mutating func update(_ sealed: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    try chunks.add(sealed)
  }

  /// Decrypts the rest, and tells whether the text is whole.
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
    // A text has one form: an empty chunk is only ever the whole text.
    guard let text, !text.isEmpty || number == 0 else { throw .damaged }
    return text
  }
}
