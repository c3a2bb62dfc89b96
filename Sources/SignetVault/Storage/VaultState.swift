import SignetCrypto
import SignetSQLite

/// The authenticated state over all rows, so that no single row can be rolled back, added or deleted.
///
/// A row's own MAC also verifies for every older version of the row. The state has a digest of each *part*: a container's
/// rows, a domain's records, a notice, the unused hardware locations. One MAC authenticates all digests together with the state
/// number. Code that uses a row must have compared its part with the digest in the same transaction.
struct VaultState {
  /// The subject of a digest.
  struct Part: Hashable, Comparable {
    /// The 16 bytes of a container's identifier; empty for parts outside of containers.
    let owner: [UInt8]
    let name: String

    /// A container's row, its slots and its receipts.
    static func container(_ id: LocalContainerID) -> Part { Part(owner: id.bytes, name: "") }
    static func records(of domain: String, in id: LocalContainerID) -> Part {
      Part(owner: id.bytes, name: domain)
    }
    static func notice(_ number: Int64) -> Part { Part(owner: [], name: "\(noticePrefix)\(number)") }
    fileprivate static let noticePrefix = "notice "
    /// The hardware locations that no slot uses.
    static let locations = Part(owner: [], name: "places")

    static func < (one: Part, other: Part) -> Bool {
      if one.owner != other.owner { return one.owner.lexicographicallyPrecedes(other.owner) }
      return one.name < other.name  // ASCII, so this is byte order
    }
  }

  /// The state number: it counts the changes that a rollback could undo, see ``HardwareCounter``.
  private(set) var number: UInt64
  /// True if ``advanceNumber(_:)`` was called since the state was read.
  private(set) var isCounted = false
  private var digests: [Part: [UInt8]] = [:]
  private var stored: [Part: [UInt8]] = [:]
  private var storedNumber: UInt64?

  /// The state of an empty vault.
  init(number: UInt64) { self.number = number }

  /// Reads the state.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``, ``SQLiteFailure``.
  init(from tables: VaultTables) throws {
    guard let row = try tables.database.query("SELECT number, mac FROM generation").first else {
      throw VaultFailure.altered(.vault)
    }
    number = UInt64(bitPattern: try row.integer("number"))
    for row in try tables.database.query("SELECT owner, name, digest FROM part") {
      digests[Part(owner: try row.blob("owner"), name: try row.text("name"))] = try row.blob("digest")
    }
    guard tables.seal.isValid(try row.blob("mac"), canonicalBytes) else { throw VaultFailure.altered(.vault) }
    (stored, storedNumber) = (digests, number)
  }

  /// Advances the state number, for a change that a rollback could undo to an attacker's advantage.
  ///
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)`` if this is the state of an older copy; ``KeystoreFailure``.
  mutating func advanceNumber(_ counter: HardwareCounter?) throws {
    guard !isCounted else { return }
    try counter?.requireLatest(self)
    number += 1
    isCounted = true
  }

  /// The digest of a part; `nil` if there is no such part.
  subscript(part: Part) -> [UInt8]? {
    get { digests[part] }
    set { digests[part] = newValue }
  }

  /// The numbers of the notices that must exist.
  var noticeNumbers: [Int64] {
    digests.keys.compactMap { part in
      guard part.owner.isEmpty, part.name.hasPrefix(Part.noticePrefix) else { return nil }
      return Int64(part.name.dropFirst(Part.noticePrefix.count))
    }
  }

  /// The identifiers of the containers that must exist.
  var containers: Set<[UInt8]> { Set(digests.keys.lazy.map(\.owner).filter { !$0.isEmpty }) }

  mutating func remove(_ id: LocalContainerID) { digests = digests.filter { $0.key.owner != id.bytes } }

  func store(in tables: VaultTables) throws {
    let changed = digests.filter { stored[$0.key] != $0.value }
    let removed = stored.keys.filter { digests[$0] == nil }
    guard number != storedNumber || !changed.isEmpty || !removed.isEmpty else { return }
    for (part, digest) in changed {
      try tables.database.execute(
        """
        INSERT INTO part (owner, name, digest) VALUES (?, ?, ?)
        ON CONFLICT (owner, name) DO UPDATE SET digest = excluded.digest
        """, .blob(part.owner), .text(part.name), .blob(digest))
    }
    for part in removed {
      try tables.database.execute(
        "DELETE FROM part WHERE owner = ? AND name = ?", .blob(part.owner), .text(part.name))
    }
    try tables.database.execute(
      "INSERT OR REPLACE INTO generation (one, number, mac) VALUES (1, ?, ?)",
      .integer(Int64(bitPattern: number)), .blob(tables.seal.code(canonicalBytes)))
  }

  private var canonicalBytes: CanonicalBytes {
    var bytes = CanonicalBytes("state")
    bytes.append(Int64(bitPattern: number))
    for (part, digest) in digests.sorted(by: { $0.key < $1.key }) {
      bytes.append(part.owner)
      bytes.append(part.name)
      bytes.append(digest)
    }
    return bytes
  }
}
