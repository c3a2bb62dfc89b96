import SignetCrypto

/// HMACs over rows, keyed from the master key: whoever writes the database, and lacks that key, makes none.
///
/// A code covers all of a row that anything is decided by. It does not detect a row that was put back as it was.
struct RowMAC: Sendable {
  private let key: HMACKey?

  /// Takes the key; without one rows have no codes, and none is asked for.
  init(key: HMACKey?) { self.key = key }

  /// The code of a row; `nil` without a key.
  func code(of row: MACInput) -> [UInt8]? { key?.authenticationCode(for: row.bytes) }

  /// Whether a row is as this server wrote it.
  func isOwn(_ row: MACInput, _ code: [UInt8]?) -> Bool {
    guard let key else { return true }
    guard let code else { return false }
    return key.isValid(code, for: row.bytes)
  }

  /// Takes what is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func check(_ row: MACInput, _ code: [UInt8]?, named name: String, of table: String) throws(StorageFailure) {
    guard isOwn(row, code) else { throw .altered(row: name, of: table) }
  }
}

/// A row as bytes that no other row has: each value with its kind and its length.
struct MACInput {
  private(set) var bytes: [UInt8]

  /// Begins with the table.
  init(_ table: String) {
    bytes = []
    // As much as most rows need, and no more than what an allocator keeps at hand: a code at the server makes three of these.
    bytes.reserveCapacity(960)
    append(table)
  }

  mutating func append(_ text: String?) {
    guard var text else { return bytes.append(0) }
    // In place: its UTF-8 as a sequence is copied through an iterator.
    text.withUTF8 { append(kind: 1, UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ blob: [UInt8]?) {
    guard let blob else { return bytes.append(0) }
    blob.withUnsafeBytes { append(kind: 2, $0) }
  }

  mutating func append(_ number: (some FixedWidthInteger)?) {
    guard let number else { return bytes.append(0) }
    withUnsafeBytes(of: Int64(clamping: number).bigEndian) { append(kind: 3, $0) }
  }

  private mutating func append(kind: UInt8, _ value: UnsafeRawBufferPointer) {
    bytes.append(kind)
    withUnsafeBytes(of: Int64(value.count).bigEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: value)
  }
}
