import SignetCrypto
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// HMACs over rows, under a key that is derived from the master key: an attacker with write access to the database cannot forge them.
///
/// A MAC covers every column of a row on which a decision depends. It does not detect that a row was rolled back to an earlier state.
///
/// A class, so that one comparison finds out if two steps use the same MACs.
final class RowMAC: Sendable {
  private let key: HMACKey?
  private let verified = Mutex(VerifiedRows())

  /// Makes row MACs with a key; without one, rows have no MACs and are not verified.
  init(key: HMACKey?) { self.key = key }

  /// Returns the MAC of a row; `nil` without a key.
  func mac(of row: MACInput) -> [UInt8]? {
    guard let key else { return nil }
    let mac = row.withBytes { key.authenticationCode(for: $0) }
    verified.withLock { $0.insert(row, mac) }
    return mac
  }

  /// Returns `true` if the MAC of a row verifies; always `true` without a key.
  ///
  /// A row that is byte for byte one of the latest rows with this MAC is not hashed again.
  func matches(_ row: MACInput, _ mac: [UInt8]?) -> Bool {
    guard let key else { return true }
    guard let mac else { return false }
    if verified.withLock({ $0.contains(row, mac) }) { return true }
    guard row.withBytes({ key.isValid(mac, for: $0) }) else { return false }
    verified.withLock { $0.insert(row, mac) }
    return true
  }

  /// Verifies the MAC of a row.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)``.
  func check(_ row: MACInput, _ mac: [UInt8]?, named name: String, of table: String) throws(StorageFailure) {
    guard matches(row, mac) else { throw .altered(row: name, of: table) }
  }
}

/// Rows whose MACs are known to be right.
///
/// Most steps read rows that another step has just written or read: their MACs would be half of the hashing for a code.
private struct VerifiedRows {
  private struct Row {
    let row: MACInput
    let mac: [UInt8]
  }

  /// Each at the place that its MAC gives, which is as good as random, in place of the one before.
  private var rows = [Row?](repeating: nil, count: 8192)

  mutating func insert(_ row: MACInput, _ mac: [UInt8]) {
    // Large rows are those of transactions, of which few are read twice.
    if row.count <= MACInput.usualByteCount { rows[index(of: mac)] = Row(row: row, mac: mac) }
  }

  func contains(_ row: MACInput, _ mac: [UInt8]) -> Bool {
    guard let known = rows[index(of: mac)] else { return false }
    return constantTimeEqual(known.mac, mac) && known.row.hasSameBytes(as: row)
  }

  private func index(of mac: [UInt8]) -> Int {
    mac.prefix(2).reduce(0) { $0 << 8 | Int($1) } % rows.count
  }
}

/// An injective encoding of a row: each value with its type and its length.
struct MACInput {
  /// The encoded bytes, followed by zeros.
  ///
  /// Values are copied into place. Appending them to an array takes twice the instructions, and one check of a code computes
  /// three encodings.
  private var buffer: [UInt8]
  fileprivate private(set) var count = 0

  /// The size that most rows need, and for which an allocator is still fast.
  fileprivate static let usualByteCount = 960

  /// Copied to begin a row, since the standard library's initializer takes three times the instructions.
  private static let empty = [UInt8](repeating: 0, count: usualByteCount)

  /// Begins with the name of the table.
  init(_ table: String) {
    buffer = Self.empty
    append(table)
  }

  /// Returns `true` for the same bytes, in a time that depends on them.
  func hasSameBytes(as other: MACInput) -> Bool {
    guard count == other.count else { return false }
    return buffer.withUnsafeBytes { mine in
      other.buffer.withUnsafeBytes { other in
        guard let mine = mine.baseAddress, let other = other.baseAddress else { return true }
        return memcmp(mine, other, count) == 0
      }
    }
  }

  /// Passes the bytes to `body`.
  func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
    body(buffer.span.bytes.extracting(0..<count))
  }

  mutating func append(_ text: String?) {
    guard var text else { return appendNull() }
    // In place, because the UTF-8 view as a sequence would be copied through an iterator.
    text.withUTF8 { append(kind: 1, UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ blob: [UInt8]?) {
    guard let blob else { return appendNull() }
    blob.withUnsafeBytes { append(kind: 2, $0) }
  }

  mutating func append(_ number: (some FixedWidthInteger)?) {
    guard let number else { return appendNull() }
    withUnsafeBytes(of: Int64(clamping: number).bigEndian) { append(kind: 3, $0) }
  }

  private mutating func appendNull() {
    reserveCapacity(for: 1)
    buffer[count] = 0
    count += 1
  }

  private mutating func append(kind: UInt8, _ value: UnsafeRawBufferPointer) {
    reserveCapacity(for: 9 + value.count)
    let start = count
    buffer.withUnsafeMutableBytes { buffer in
      buffer[start] = kind
      buffer.storeBytes(of: Int64(value.count).bigEndian, toByteOffset: start + 1, as: Int64.self)
      UnsafeMutableRawBufferPointer(rebasing: buffer[(start + 9)...]).copyMemory(from: value)
    }
    count += 9 + value.count
  }

  private mutating func reserveCapacity(for more: Int) {
    let missing = count + more - buffer.count
    if missing > 0 { buffer.append(contentsOf: repeatElement(0, count: max(missing, buffer.count))) }
  }
}
