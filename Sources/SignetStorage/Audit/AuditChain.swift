import SignetCrypto

/// An entry of the log, as it is stored.
package struct AuditEntry: Hashable, Sendable {
  /// The number of its chain: 0 in SQLite; on a database server each writing connection has its own chain.
  package var chain: Int64
  /// The number of the entry: 1 for the first of a chain, without gaps.
  package var number: Int64
  /// The event as one JSON object.
  package var text: String
  /// The chain's hash up to this entry, 32 bytes.
  package var hash: [UInt8]
}

/// A hash chain of the audit log.
///
/// `hash(n) = SHA-256(hash(n-1) ‖ number as 8 bytes, big-endian ‖ event's UTF-8)`, where `hash(0)` is 24 zero bytes and the
/// chain's number as 8 bytes, big-endian. If the last hash is stored elsewhere, a verification detects any entry before it
/// that was changed, removed or inserted.
package struct AuditChain: Hashable, Sendable {
  /// The chain's number.
  package let chain: Int64
  /// The number of the last entry; 0 before the first.
  package private(set) var number: Int64 = 0
  /// The hash of the last entry, 32 bytes.
  package private(set) var hash: [UInt8]

  /// Makes an empty chain.
  package init(_ chain: Int64 = 0) {
    self.chain = chain
    hash = [UInt8](repeating: 0, count: 24)
    withUnsafeBytes(of: chain.bigEndian) { hash.append(contentsOf: $0) }
  }

  /// Continues a chain from the number and the hash of its last entry.
  init(_ chain: Int64, number: Int64, hash: [UInt8]) {
    self.chain = chain
    self.number = number
    self.hash = hash
  }

  /// Appends an event's JSON object.
  package mutating func append(_ text: String) -> AuditEntry {
    number += 1
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hash.count + 8 + text.utf8.count)
    bytes += hash
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    bytes += text.utf8
    hash = HashFunction.sha256.digest(of: bytes)
    return AuditEntry(chain: chain, number: number, text: text, hash: hash)
  }

  /// Verifies the next entry and advances to it.
  ///
  /// - Returns: `true` if the entry continues the chain.
  package mutating func verify(_ entry: AuditEntry) -> Bool {
    var next = self
    guard next.append(entry.text) == entry else { return false }
    self = next
    return true
  }
}

/// A part of the audit log, for a search from its newest entries back.
package struct AuditStretch: Hashable, Sendable {
  /// The found entries: newest first within a chain, chains one after the other.
  package internal(set) var entries: [AuditEntry] = []
  /// The newest entry of each chain that was not searched; empty at the end of the search.
  package internal(set) var unread: [AuditEntry] = []
}
