/// The sizes of the format of encrypted app data; `docs/app-data-format.md` specifies it.
public enum AppDataFormat {
  /// The bytes before the first chunk: `SGAD`, the version, a salt.
  public static let headerByteCount = 37
  /// The bytes of text in each chunk except the last, which may have fewer.
  public static let chunkByteCount = 65_536
  /// The bytes that a chunk has in addition to its text.
  public static let tagByteCount = 16

  static let magic: [UInt8] = Array("SGAD".utf8)
  static let version: UInt8 = 1
  static let saltByteCount = 32

  /// The header of a text.
  package static func header(salt: [UInt8]) -> [UInt8] { magic + [version] + salt }

  /// Returns the salt from the header of encrypted app data.
  ///
  /// - Parameter header: The first ``headerByteCount`` bytes; further bytes are ignored.
  /// - Returns: 32 bytes.
  /// - Throws: ``AppDataFailure/notAppData``, ``AppDataFailure/tooNew(version:)``.
  package static func salt(inHeader header: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    guard header.count >= headerByteCount, header.starts(with: magic), header[magic.count] > 0 else {
      throw .notAppData
    }
    guard header[magic.count] == version else { throw .tooNew(version: header[magic.count]) }
    return Array(header[(magic.count + 1)..<headerByteCount])
  }

  /// Returns a chunk's nonce: 7 zero bytes, the chunk number in 4 bytes, big-endian, and 1 for the last chunk or 0.
  package static func nonce(_ number: UInt32, isLast: Bool) -> [UInt8] {
    var nonce = [UInt8](repeating: 0, count: 7)
    nonce.append(bigEndian: number)
    nonce.append(isLast ? 1 : 0)
    return nonce
  }
}
