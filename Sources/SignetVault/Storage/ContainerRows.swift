import SignetCrypto
import SignetSQLite

/// The rows of one container, read once and compared with the vault's state, so no unverified row is used.
///
/// Each change is made in the file and in the state. The records of a domain are read and compared on first access.
struct ContainerRows {
  let id: LocalContainerID
  private(set) var state: VaultState
  private let tables: VaultTables
  private var container: Entry<StoredContainer>
  private var slots: [SlotName: Entry<SlotRow>] = [:]
  private var receipts: [String: Entry<WipeReceipt>] = [:]
  private var records: [String: [String: [UInt8]]] = [:]
  private var changedDomains: Set<String> = []

  /// A row's MAC, and the row's content if the MAC verifies.
  private struct Entry<Value> {
    let code: [UInt8]
    let value: Result<Value, VaultFailure>

    init(_ value: Value, _ code: [UInt8]) { (self.code, self.value) = (code, .success(value)) }

    init(_ row: Row, _ read: () throws(VaultFailure) -> Value) throws(SQLiteFailure) {
      code = try row.blob("mac")
      value = Result(catching: read)
    }
  }

  private struct SlotName: Hashable, Comparable {
    let domain: String
    let kind: Int64

    static func < (one: SlotName, other: SlotName) -> Bool {
      (one.domain, one.kind) < (other.domain, other.kind)
    }
  }

  /// Reads the rows of a container.
  ///
  /// - Throws: ``VaultFailure``: `noSuchContainer`, `altered`; ``SQLiteFailure``.
  init(_ id: LocalContainerID, in tables: VaultTables, _ state: VaultState) throws {
    try self.init(reading: id, in: tables, state)
    if digest == state[.container(id)] { return }
    // If the MAC of one row does not verify, the failure names that row.
    _ = try container.value.get()
    for name in slots.keys.sorted() { _ = try slots[name]?.value.get() }
    throw VaultFailure.altered(.container(id))
  }

  /// Reads the rows of a vault whose version has no state yet.
  init(adopting id: LocalContainerID, with domains: [String], in tables: VaultTables, _ state: VaultState)
    throws
  {
    try self.init(reading: id, in: tables, state)
    for domain in domains { records[domain] = try storedRecords(of: domain).records }
    changedDomains = Set(domains)
  }

  private init(reading id: LocalContainerID, in tables: VaultTables, _ state: VaultState) throws {
    self.id = id
    self.state = state
    self.tables = tables
    guard let row = try StoredContainer.row(of: id, in: tables.database) else {
      throw state[.container(id)] == nil
        ? VaultFailure.noSuchContainer(id) : VaultFailure.altered(.container(id))
    }
    container = try Entry(row) { () throws(VaultFailure) in try StoredContainer(row, tables.seal) }
    for row in try SlotRow.rows(of: id, in: tables.database) {
      let name = SlotName(domain: try row.text("domain"), kind: try row.integer("kind"))
      slots[name] = try Entry(row) { () throws(VaultFailure) in try SlotRow(row, in: id, tables) }
    }
    for row in try WipeReceipt.rows(of: id, in: tables.database) {
      receipts[try row.text("domain")] = try Entry(row) { () throws(VaultFailure) in
        try WipeReceipt(row, in: id, tables.seal)
      }
    }
  }

  init(adding container: StoredContainer, to tables: VaultTables, _ state: VaultState) throws {
    id = container.id
    self.state = state
    self.tables = tables
    self.container = Entry(container, try container.insert(into: tables.database, tables.seal))
  }

  /// The verified row of the container.
  func attributes() throws(VaultFailure) -> StoredContainer { try container.value.get() }

  /// All slots, sorted by the names of their domains.
  func allSlots() throws -> [SlotRow] {
    _ = try container.value.get()
    return try slots.keys.sorted().compactMap { try slots[$0]?.value.get() }
  }

  func allReceipts() throws -> [WipeReceipt] {
    try receipts.keys.sorted().compactMap { try receipts[$0]?.value.get() }
  }

  /// The slot of a domain with this kind.
  ///
  /// - Throws: ``VaultFailure``: `noSuchSlot`, `wiped`, `altered` if the row's MAC does not verify, `costOutOfRange`.
  func slot(_ domain: String, _ kind: SlotKind) throws(VaultFailure) -> SlotRow {
    _ = try container.value.get()
    if let slot = slots[SlotName(domain: domain, kind: Int64(kind.rawValue))] { return try slot.value.get() }
    if let receipt = receipts[domain] {
      _ = try receipt.value.get()
      throw .wiped(domain: domain)
    }
    throw .noSuchSlot(domain: domain, kind)
  }

  /// The sealed records of a domain.
  ///
  /// - Throws: ``VaultFailure/altered(_:)``, ``SQLiteFailure``.
  mutating func records(of domain: String) throws -> [String: [UInt8]] {
    if let cached = records[domain] { return cached }
    let (found, digest) = try storedRecords(of: domain)
    guard digest == state[.records(of: domain, in: id)] else {
      throw VaultFailure.altered(.slot(id, domain: domain))
    }
    records[domain] = found
    return found
  }

  /// The records as they are in the file, and their digest; `nil` if there are none.
  private func storedRecords(
    of domain: String
  ) throws -> (records: [String: [UInt8]], digest: [UInt8]?) {
    var found: [String: [UInt8]] = [:]
    var digest = RecordsDigest()
    try tables.database.forEachRow(
      "SELECT name, sealed FROM record WHERE container = ? AND domain = ? ORDER BY name",
      [.blob(id.bytes), .text(domain)]
    ) { row in
      let (name, sealed) = (try row.text("name"), try row.blob("sealed"))
      digest.add(name, sealed)
      found[name] = sealed
    }
    return (found, found.isEmpty ? nil : digest.finish())
  }
}

extension ContainerRows {
  /// Advances the state number, for a change that a rollback could undo to an attacker's advantage.
  ///
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)``, ``KeystoreFailure``.
  mutating func advanceNumber() throws { try state.advanceNumber(tables.counter) }

  mutating func store(_ container: StoredContainer) throws {
    self.container = Entry(container, try container.update(in: tables.database, tables.seal))
  }

  /// Stores a slot; replaces one of the same kind.
  mutating func store(_ slot: SlotRow) throws {
    let header = slot.slot.header
    slots[SlotName(domain: header.domainID.domain, kind: Int64(header.kind.rawValue))] =
      Entry(slot, try slot.store(in: tables.database, tables.seal))
  }

  mutating func removeSlot(_ domain: String, _ kind: SlotKind) throws {
    let name = SlotName(domain: domain, kind: Int64(kind.rawValue))
    try tables.database.execute(
      "DELETE FROM slot WHERE container = ? AND domain = ? AND kind = ?", .blob(id.bytes), .text(domain),
      .integer(name.kind))
    slots[name] = nil
  }

  /// Stores a sealed record; `nil` deletes it.
  mutating func setRecord(_ name: String, of domain: String, to sealed: [UInt8]?) throws {
    _ = try records(of: domain)
    if let sealed {
      try tables.database.execute(
        """
        INSERT INTO record (container, domain, name, sealed) VALUES (?, ?, ?, ?)
        ON CONFLICT (container, domain, name) DO UPDATE SET sealed = excluded.sealed
        """, .blob(id.bytes), .text(domain), .text(name), .blob(sealed))
    } else {
      try tables.database.execute(
        "DELETE FROM record WHERE container = ? AND domain = ? AND name = ?", .blob(id.bytes), .text(domain),
        .text(name))
    }
    records[domain]?[name] = sealed
    changedDomains.insert(domain)
  }

  /// Erases the slots and records of a domain, and stores a receipt.
  mutating func wipe(_ receipt: WipeReceipt) throws {
    let values: [SQLiteValue] = [.blob(id.bytes), .text(receipt.domain)]
    try retireSlots(of: receipt.domain)
    try tables.database.execute("DELETE FROM slot WHERE container = ? AND domain = ?", values)
    try tables.database.execute("DELETE FROM record WHERE container = ? AND domain = ?", values)
    slots = slots.filter { $0.key.domain != receipt.domain }
    records[receipt.domain] = [:]
    changedDomains.insert(receipt.domain)
    receipts[receipt.domain] = Entry(receipt, try receipt.insert(into: tables.database, tables.seal))
  }

  /// Deletes a domain with its slots and records; does nothing if there is none.
  mutating func removeDomain(_ domain: String) throws {
    let values: [SQLiteValue] = [.blob(id.bytes), .text(domain)]
    _ = try records(of: domain)
    try retireSlots(of: domain)
    try tables.database.execute("DELETE FROM slot WHERE container = ? AND domain = ?", values)
    try tables.database.execute("DELETE FROM record WHERE container = ? AND domain = ?", values)
    slots = slots.filter { $0.key.domain != domain }
    records[domain] = [:]
    changedDomains.insert(domain)
  }

  func hasDomain(_ domain: String) -> Bool { slots.keys.contains { $0.domain == domain } }

  /// Lists the hardware locations of these slots for release.
  mutating func retireSlots(of domain: String? = nil) throws {
    let secrets = slots.values.compactMap { entry -> [UInt8]? in
      guard case .success(let row) = entry.value, domain == nil || row.slot.header.domainID.domain == domain,
        row.slot.header.guessLimit != nil
      else { return nil }
      return row.slot.sealedSecret
    }
    try changeLocations { $0.formUnion(secrets) }
  }

  /// Changes the list of hardware locations that no slot uses.
  mutating func changeLocations(_ change: (inout Set<[UInt8]>) throws -> Void) throws {
    try state.changeLocations(in: tables, change)
  }

  /// Deletes the container with all its rows.
  ///
  /// - Returns: The state without the container.
  mutating func delete() throws -> VaultState {
    try retireSlots()
    return try state.deleting(id, from: tables)
  }

  /// The state including the changes made here.
  func newState() -> VaultState {
    var state = state
    state[.container(id)] = digest
    for domain in changedDomains {
      guard let records = records[domain], !records.isEmpty else {
        state[.records(of: domain, in: id)] = nil
        continue
      }
      var digest = RecordsDigest()
      for name in records.keys.sorted() { digest.add(name, records[name] ?? []) }
      state[.records(of: domain, in: id)] = digest.finish()
    }
    return state
  }

  private var digest: [UInt8] {
    var bytes = CanonicalBytes("container")
    bytes.append(container.code)
    bytes.append(Int64(slots.count))
    for name in slots.keys.sorted() { bytes.append(slots[name]?.code ?? []) }
    for domain in receipts.keys.sorted() { bytes.append(receipts[domain]?.code ?? []) }
    return HashFunction.sha256.digest(of: bytes.bytes)
  }
}

extension VaultState {
  /// Deletes a container with all its rows, without verifying them.
  func deleting(_ id: LocalContainerID, from tables: VaultTables) throws -> VaultState {
    try tables.database.execute("DELETE FROM container WHERE id = ?", .blob(id.bytes))
    var state = self
    state.remove(id)
    return state
  }
}

/// SHA-256 over the names and sealed bytes of a domain's records, sorted by name.
private struct RecordsDigest: ~Copyable {
  private var hash = IncrementalHash(.sha256)

  init() { hash.update(CanonicalBytes("records").bytes) }

  mutating func add(_ name: String, _ sealed: [UInt8]) {
    var bytes = CanonicalBytes(name)
    bytes.append(sealed)
    hash.update(bytes.bytes)
  }

  consuming func finish() -> [UInt8] { hash.finish() }
}
