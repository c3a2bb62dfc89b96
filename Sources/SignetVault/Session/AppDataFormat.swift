/// The numbers of the format of encrypted app data; `docs/app-data-format.md` specifies it.
public enum AppDataFormat {
  /// The bytes before the first chunk: `SGAD`, the version, a salt.
  public static let headerByteCount = 37
  /// The bytes of text in each chunk but the last, which may have fewer.
  public static let chunkByteCount = 65_536
  /// The bytes that a chunk has beyond its text.
  public static let tagByteCount = 16

  static let magic: [UInt8] = Array("SGAD".utf8)
  static let version: UInt8 = 1
  static let saltByteCount = 32

  /// The header of a text.
  package static func header(salt: [UInt8]) -> [UInt8] { magic + [version] + salt }

  /// The salt in the header of what was encrypted.
  ///
  /// - Parameter header: The first ``headerByteCount`` bytes; more are not looked at.
  /// - Returns: 32 bytes.
  /// - Throws: ``AppDataFailure/notAppData``, ``AppDataFailure/tooNew(version:)``.
  package static func salt(inHeader header: [UInt8]) throws(AppDataFailure) -> [UInt8] {
    guard header.count >= headerByteCount, header.starts(with: magic), header[magic.count] > 0 else {
      throw .notAppData
    }
    guard header[magic.count] == version else { throw .tooNew(version: header[magic.count]) }
    return Array(header[(magic.count + 1)..<headerByteCount])
  }

  /// Names a chunk under the key of its text: 7 zeros, the chunk's number in 4 bytes, big-endian, and 1 for the last chunk.
  package static func nonce(_ number: UInt32, isLast: Bool) -> [UInt8] {
    var nonce = [UInt8](repeating: 0, count: 7)
    nonce.append(bigEndian: number)
    nonce.append(isLast ? 1 : 0)
    return nonce
  }
}
