import SignetCrypto

/// Decrypts a text of an app piece by piece.
///
/// What a call returns is authentic and in its place. Whether it is all of the text only ``finish()`` tells: what acts on parts
/// must be able to take it back.
public struct AppDataOpener: ~Copyable, Sendable {
  private let key: AppDataKey
  private var chunk: [UInt8] = []
  private var number: UInt32? = 0
  private var isDamaged = false
  private static let sealedChunkByteCount = AppDataFormat.chunkByteCount + AppDataFormat.tagByteCount

  /// Begins with what follows the header.
  package init(_ key: AppDataKey) {
    self.key = key
    chunk.reserveCapacity(Self.sealedChunkByteCount)
  }

  /// Decrypts more.
  ///
  /// - Parameter sealed: The next bytes after the header, any number of them.
  /// - Returns: The text that is certain by now, which may be nothing yet.
  /// - Throws: ``AppDataFailure``: `locked`, `damaged`; all calls that follow `damaged` throw it again.
  public mutating func update(_ sealed: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    var output: [UInt8] = []
    var rest = sealed[...]
    while !rest.isEmpty {
      if chunk.count == Self.sealedChunkByteCount { output += try openChunk(isLast: false) }
      let part = rest.prefix(Self.sealedChunkByteCount - chunk.count)
      chunk += part
      rest = rest.dropFirst(part.count)
    }
    return output
  }

  /// Decrypts the rest, and tells whether the text is whole.
  ///
  /// - Returns: The end of the text.
  /// - Throws: ``AppDataFailure``: `locked`; `damaged` also if the end is missing.
  public consuming func finish() throws(AppDataFailure) -> [UInt8] { try openChunk(isLast: true) }

  private mutating func openChunk(isLast: Bool) throws(AppDataFailure) -> [UInt8] {
    guard !isDamaged, let number, chunk.count >= AppDataFormat.tagByteCount else {
      isDamaged = true
      throw .damaged
    }
    let nonce = AppDataFormat.nonce(number, isLast: isLast)
    let text = try key.withKey { [chunk] (key) throws(AppDataFailure) -> [UInt8]? in
      do throws(CryptoFailure) {
        return try AESGCM.openBytes(
          Array(chunk.dropLast(AppDataFormat.tagByteCount)),
          tag: Array(chunk.suffix(AppDataFormat.tagByteCount)),
          key: key, nonce: nonce)
      } catch { return nil }
    }
    // A text has one form: an empty chunk is only ever the whole text.
    guard let text, !text.isEmpty || number == 0 else {
      isDamaged = true
      throw .damaged
    }
    chunk.removeAll(keepingCapacity: true)
    self.number = number == .max ? nil : number + 1
    return text
  }
}
