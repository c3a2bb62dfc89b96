import SignetCrypto

/// Codes of the server's own over rows that it believes: who can write the database, and lacks the master key, makes up none.
///
/// A code covers all of a row that anything is decided by. What it cannot find out is a row that was put back as it was.
struct RowCodes: Sendable {
  private let key: HMACKey?

  /// Takes the key; without one rows have no codes, and none is asked for.
  init(key: HMACKey?) { self.key = key }

  /// The code of a row; `nil` without a key.
  func code(of row: RowImage) -> [UInt8]? { key?.authenticationCode(for: row.bytes) }

  /// Whether a row is as this server wrote it.
  func isOwn(_ row: RowImage, _ code: [UInt8]?) -> Bool {
    guard let key else { return true }
    guard let code else { return false }
    return key.isValid(code, for: row.bytes)
  }

  /// Takes what is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:)``.
  func check(_ row: RowImage, _ code: [UInt8]?, named name: String) throws(StorageFailure) {
    guard isOwn(row, code) else { throw .altered(row: name) }
  }
}

/// A row as bytes that no other row has: each value with its kind and its length.
struct RowImage {
  private(set) var bytes: [UInt8]

  /// Begins with the table.
  init(_ table: String) {
    bytes = []
    append(table)
  }

  mutating func append(_ text: String?) { append(kind: 1, text.map { Array($0.utf8) }) }

  mutating func append(_ blob: [UInt8]?) { append(kind: 2, blob) }

  mutating func append(_ number: (some FixedWidthInteger)?) {
    append(kind: 3, number.map { Self.bigEndian(Int64(clamping: $0)) })
  }

  private mutating func append(kind: UInt8, _ value: [UInt8]?) {
    guard let value else {
      bytes.append(0)
      return
    }
    bytes.append(kind)
    bytes += Self.bigEndian(Int64(value.count))
    bytes += value
  }

  private static func bigEndian(_ number: Int64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> Int64($0)) }
  }
}
