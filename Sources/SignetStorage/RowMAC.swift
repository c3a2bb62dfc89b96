import SignetCrypto

/// HMACs over rows, keyed from the master key: whoever writes the database, and lacks that key, makes none.
///
/// A MAC covers all of a row that anything is decided by. It does not detect a row that was put back as it was.
///
/// A class, so that steps which go by the same one are known by one comparison.
final class RowMAC: Sendable {
  private let key: HMACKey?

  /// Takes the key; without one rows have no MACs, and none is asked for.
  init(key: HMACKey?) { self.key = key }

  /// The MAC of a row; `nil` without a key.
  func mac(of row: MACInput) -> [UInt8]? {
    key.map { key in row.withBytes { key.authenticationCode(for: $0) } }
  }

  /// Whether a row is as this server wrote it.
  func isOwn(_ row: MACInput, _ mac: [UInt8]?) -> Bool {
    guard let own = self.mac(of: row) else { return true }
    return mac.map { constantTimeEqual($0, own) } ?? false
  }

  /// Takes what is as this server wrote it.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func check(_ row: MACInput, _ mac: [UInt8]?, named name: String, of table: String) throws(StorageFailure) {
    guard isOwn(row, mac) else { throw .altered(row: name, of: table) }
  }
}

/// A row as bytes that no other row has: each value with its kind and its length.
struct MACInput {
  /// What was written, and zeros after it.
  ///
  /// Values are copied to their place: appended to an array one after the other they took twice the instructions, and a code at the
  /// server makes three of these.
  private var buffer: [UInt8]
  private var count = 0

  /// Begins with the table.
  init(_ table: String) {
    // As much as most rows need, and no more than what an allocator keeps at hand.
    buffer = [UInt8](repeating: 0, count: 960)
    append(table)
  }

  /// Lends the bytes to `body`.
  func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
    body(buffer.span.bytes.extracting(0..<count))
  }

  mutating func append(_ text: String?) {
    guard var text else { return appendNothing() }
    // In place: its UTF-8 as a sequence is copied through an iterator.
    text.withUTF8 { append(kind: 1, UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ blob: [UInt8]?) {
    guard let blob else { return appendNothing() }
    blob.withUnsafeBytes { append(kind: 2, $0) }
  }

  mutating func append(_ number: (some FixedWidthInteger)?) {
    guard let number else { return appendNothing() }
    withUnsafeBytes(of: Int64(clamping: number).bigEndian) { append(kind: 3, $0) }
  }

  private mutating func appendNothing() {
    makeRoom(for: 1)
    buffer[count] = 0
    count += 1
  }

  private mutating func append(kind: UInt8, _ value: UnsafeRawBufferPointer) {
    makeRoom(for: 9 + value.count)
    let start = count
    buffer.withUnsafeMutableBytes { buffer in
      buffer[start] = kind
      buffer.storeBytes(of: Int64(value.count).bigEndian, toByteOffset: start + 1, as: Int64.self)
      UnsafeMutableRawBufferPointer(rebasing: buffer[(start + 9)...]).copyMemory(from: value)
    }
    count += 9 + value.count
  }

  private mutating func makeRoom(for more: Int) {
    let missing = count + more - buffer.count
    if missing > 0 { buffer.append(contentsOf: repeatElement(0, count: max(missing, buffer.count))) }
  }
}
