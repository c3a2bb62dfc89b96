import SignetCrypto

/// Encrypts a text of an app piece by piece.
///
/// Each call returns what can be written by then; the parts, in order, are the encrypted text. Without ``finish()`` it is cut off,
/// and will not open.
public struct AppDataSealer: ~Copyable, Sendable {
  private let key: AppDataKey
  private var chunk: [UInt8] = []
  private var number: UInt32? = 0
  private var hasHeader = false

  /// Begins a text under a key that no other text has.
  package init(_ key: AppDataKey) {
    self.key = key
    chunk.reserveCapacity(AppDataFormat.chunkByteCount)
  }

  /// Encrypts more of the text.
  ///
  /// - Parameter text: Any number of bytes; they stay the caller's to wipe.
  /// - Returns: What to write, which may be nothing yet.
  /// - Throws: ``AppDataFailure``: `locked`, `tooLong`.
  public mutating func update(_ text: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    var output = header()
    var rest = text[...]
    while !rest.isEmpty {
      // Only the last chunk may be the last, so a full one waits until more comes.
      if chunk.count == AppDataFormat.chunkByteCount { output += try sealChunk(isLast: false) }
      let part = rest.prefix(AppDataFormat.chunkByteCount - chunk.count)
      chunk += part
      rest = rest.dropFirst(part.count)
    }
    return output
  }

  /// Ends the text.
  ///
  /// - Returns: The rest of what to write.
  /// - Throws: ``AppDataFailure``: `locked`, `tooLong`.
  public consuming func finish() throws(AppDataFailure) -> [UInt8] {
    try header() + sealChunk(isLast: true)
  }

  private mutating func header() -> [UInt8] {
    if hasHeader { return [] }
    hasHeader = true
    return AppDataFormat.header(salt: key.salt)
  }

  private mutating func sealChunk(isLast: Bool) throws(AppDataFailure) -> [UInt8] {
    guard let number else { throw .tooLong }
    let nonce = AppDataFormat.nonce(number, isLast: isLast)
    let sealed = try key.withKey { [chunk] (key) throws(AppDataFailure) in
      do throws(CryptoFailure) {
        let parts = try AESGCM.seal(chunk, key: key, nonce: nonce)
        return parts.ciphertext + parts.tag
      } catch { preconditionFailure("key, nonce and length are right: \(error)") }
    }
    chunk.wipe()
    chunk.removeAll(keepingCapacity: true)
    self.number = number == .max ? nil : number + 1
    return sealed
  }
}
