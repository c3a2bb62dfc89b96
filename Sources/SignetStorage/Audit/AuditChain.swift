import SignetCrypto

/// An entry of the log, as it is stored.
public struct AuditEntry: Hashable, Sendable {
  /// The chain that it is in: 0 in SQLite; on a database server each connection that writes has one for itself.
  public var chain: Int64
  /// 1 for the first entry of a chain, without gaps.
  public var number: Int64
  /// The event as one JSON object.
  public var text: String
  /// The chain's hash up to this entry, 32 bytes.
  public var hash: [UInt8]

  /// Describes an entry.
  public init(chain: Int64 = 0, number: Int64, text: String, hash: [UInt8]) {
    self.chain = chain
    self.number = number
    self.text = text
    self.hash = hash
  }
}

/// A hash chain of the audit log.
///
/// `hash(n) = SHA-256(hash(n-1) ‖ number as 8 bytes, big-endian ‖ event's UTF-8)`, where `hash(0)` is 24 zero bytes and the chain's
/// number as 8 bytes, big-endian. Who keeps the last hash somewhere else sees whether anything before it was changed, removed or
/// inserted.
public struct AuditChain: Hashable, Sendable {
  /// The chain's number.
  public let chain: Int64
  /// The number of the last entry; 0 before the first.
  public private(set) var number: Int64 = 0
  /// The hash of the last entry, 32 bytes.
  public private(set) var hash: [UInt8]

  /// An empty chain.
  public init(_ chain: Int64 = 0) {
    self.chain = chain
    hash = [UInt8](repeating: 0, count: 24)
    withUnsafeBytes(of: chain.bigEndian) { hash.append(contentsOf: $0) }
  }

  /// Continues a chain of whose last entry the number and the hash are known.
  init(_ chain: Int64, number: Int64, hash: [UInt8]) {
    (self.chain, self.number, self.hash) = (chain, number, hash)
  }

  /// Appends an event's JSON object.
  public mutating func append(_ text: String) -> AuditEntry {
    number += 1
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hash.count + 8 + text.utf8.count)
    bytes += hash
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    bytes += text.utf8
    hash = HashFunction.sha256.digest(of: bytes)
    return AuditEntry(chain: chain, number: number, text: text, hash: hash)
  }

  /// Checks the next entry and goes on to it.
  ///
  /// - Returns: Whether the entry is the one that the chain goes on with.
  public mutating func verify(_ entry: AuditEntry) -> Bool {
    var next = self
    guard next.append(entry.text) == entry else { return false }
    self = next
    return true
  }
}
