import SignetCrypto
import SignetSQLite

/// The identity of a vault: created once and authenticated at each opening.
struct VaultIdentity {
  private(set) var tables: VaultTables
  let device: DeviceID
  private let row: IdentityRow

  /// Reads the identity, or creates it in a new vault; upgrades a vault of an earlier version.
  ///
  /// If several processes find a new or older vault at once, one of them does the work.
  ///
  /// - Throws: ``VaultFailure``: `altered`, `otherKeystore`, `rolledBack`; ``KeystoreFailure``, ``SQLiteFailure``.
  static func load(
    from database: Database, _ keystore: any HardwareKeystore, floor: Argon2id
  ) throws -> VaultIdentity {
    let identity =
      if let found = try VaultIdentity(database, keystore, floor) {
        found
      } else {
        try database.transaction {
          try VaultIdentity(database, keystore, floor) ?? VaultIdentity(making: database, keystore, floor)
        }
      }
    if identity.row.isOld {
      try database.transaction {
        // Another process may have upgraded it first.
        guard try VaultIdentity(database, keystore, floor)?.row.isOld == true else { return }
        try identity.upgrade()
      }
    }
    try identity.tables.catchUpCounter()
    return identity
  }

  private init?(_ database: Database, _ keystore: any HardwareKeystore, _ floor: Argon2id) throws {
    let rows = try database.query("SELECT vault, device, keystore, sealed_key, counter, mac FROM vault")
    guard let found = rows.first else { return nil }
    guard let vault = Identifier(try found.blob("vault")), let device = Identifier(try found.blob("device")),
      let kind = KeystoreKind(rawValue: try found.text("keystore"))
    else { throw VaultFailure.altered(.vault) }
    guard kind == keystore.kind else {
      throw VaultFailure.otherKeystore(found: kind, expected: keystore.kind)
    }
    var row = IdentityRow(
      vault: vault, device: device, keystore: kind, sealedKey: try found.blob("sealed_key"),
      counter: try found.optionalBlob("counter"))
    let key = try keystore.unseal(row.sealedKey, context: row.keyContext)
    let seal = RowSeal(vault: vault, vaultKey: key)
    let code = try found.blob("mac")
    row.isOld = !seal.isValid(code, row.canonicalBytes)
    guard seal.isValid(code, row.canonicalBytes) else { throw VaultFailure.altered(.vault) }
    self.init(row, VaultTables(database: database, seal: seal, floor: floor), keystore)
  }

  private init(making database: Database, _ keystore: any HardwareKeystore, _ floor: Argon2id) throws {
    let random = SystemRandomSource()
    var row = IdentityRow(
      vault: Identifier(from: random), device: Identifier(from: random), keystore: keystore.kind)
    let key = SecretBytes.random(byteCount: 32)
    row.sealedKey = try keystore.seal(key, context: row.keyContext)
    row.counter = try (keystore as? any CountingKeystore)?.makeCounter()
    let seal = RowSeal(vault: row.vault, vaultKey: key)
    self.init(row, VaultTables(database: database, seal: seal, floor: floor), keystore)
    try row.store(in: tables)
    try VaultState(number: tables.counter.map { try $0.keystore.counterValue($0.name) } ?? 1).store(
      in: tables)
  }

  private init(_ row: IdentityRow, _ tables: VaultTables, _ keystore: any HardwareKeystore) {
    self.row = row
    self.tables = tables
    device = DeviceID(row.device)
    self.tables.counter = HardwareCounter(keystore, name: row.counter)
  }

  /// Creates the state for a vault whose rows only have their own MACs, and advances the number.
  ///
  /// Every copy that an earlier program wrote is rejected as rolled back from then on.
  private func upgrade() throws {
    var number: UInt64 = 0
    if let found = try tables.database.query("SELECT number, mac FROM generation").first {
      var bytes = CanonicalBytes("generation")
      bytes.append(try found.integer("number"))
      guard tables.seal.isValid(try found.blob("mac"), bytes) else { throw VaultFailure.altered(.vault) }
      number = UInt64(bitPattern: try found.integer("number"))
    } else if tables.counter != nil {
      throw VaultFailure.altered(.vault)
    }
    var state = VaultState(number: number)
    try state.advanceNumber(tables.counter)
    try state.adoptRows(of: tables)
    try state.store(in: tables)
    var row = row
    row.isOld = false
    try row.store(in: tables)
  }
}

/// The row with the identity of a vault.
private struct IdentityRow {
  let vault: Identifier
  let device: Identifier
  let keystore: KeystoreKind
  var sealedKey: [UInt8] = []
  var counter: [UInt8]?
  /// True if an earlier program wrote the row, without a state over all rows.
  var isOld = false

  var keyContext: [UInt8] {
    var context = CanonicalBytes("signet vault key v1")
    context.append(vault.bytes)
    return context.bytes
  }

  var canonicalBytes: CanonicalBytes {
    var row = CanonicalBytes(isOld ? "vault" : "vault v3")
    row.append(device.bytes)
    row.append(keystore.rawValue)
    row.append(sealedKey)
    if let counter { row.append(counter) }
    return row
  }

  func store(in tables: VaultTables) throws {
    try tables.database.execute(
      """
      INSERT OR REPLACE INTO vault (one, vault, device, keystore, sealed_key, counter, mac)
      VALUES (1, ?, ?, ?, ?, ?, ?)
      """, .blob(vault.bytes), .blob(device.bytes), .text(keystore.rawValue), .blob(sealedKey),
      .optional(counter), .blob(tables.seal.code(canonicalBytes)))
  }
}

extension VaultState {
  /// Adopts the rows without comparison; rows with an invalid MAC remain altered.
  fileprivate mutating func adoptRows(of tables: VaultTables) throws {
    for case let id? in try StoredContainer.names(in: tables.database) {
      let domains = try tables.database.query(
        "SELECT DISTINCT domain FROM record WHERE container = ?", .blob(id.bytes))
      self = try ContainerRows(
        adopting: id, with: domains.map { try $0.text("domain") }, in: tables, self
      ).newState()
    }
    try adoptLocations(of: tables)
  }
}
