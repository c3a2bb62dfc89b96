import SignetCrypto

/// An entry of the log, as it is stored.
public struct AuditEntry: Hashable, Sendable {
  /// 1 for the first entry, without gaps.
  public var number: Int64
  /// The event as one JSON object.
  public var text: String
  /// The chain's hash up to this entry, 32 bytes.
  public var hash: [UInt8]

  /// Describes an entry.
  public init(number: Int64, text: String, hash: [UInt8]) {
    (self.number, self.text, self.hash) = (number, text, hash)
  }
}

/// The hash chain of the audit log.
///
/// `hash(n) = SHA-256(hash(n-1) ‖ number as 8 bytes, big-endian ‖ event's UTF-8)`, where `hash(0)` is 32 zero bytes. Who keeps
/// the last hash somewhere else sees whether anything before it was changed, removed or inserted.
public struct AuditChain: Sendable {
  /// The number of the last entry; 0 before the first.
  public private(set) var number: Int64 = 0
  /// The hash of the last entry, 32 bytes.
  public private(set) var hash = [UInt8](repeating: 0, count: 32)

  /// An empty chain.
  public init() {}

  /// Continues a chain whose last entry is known.
  public init(after entry: AuditEntry) { (number, hash) = (entry.number, entry.hash) }

  /// Appends an event's JSON object.
  public mutating func append(_ text: String) -> AuditEntry {
    number += 1
    var bytes = hash
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
    bytes += Array(text.utf8)
    hash = HashFunction.sha256.digest(of: bytes)
    return AuditEntry(number: number, text: text, hash: hash)
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
