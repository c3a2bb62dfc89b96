import SignetPolicy
import SignetSQLite

/// A slot with its attempts and password times, as a row.
struct SlotRow {
  var slot: ProtectionSlot
  var attempts: AttemptState
  /// The times of the password; `nil` in slots without one, and in those of version 1.
  var password: PasswordTimes?

  private static let columns =
    "container, domain, kind, header, sealed_secret, wrapped_key, failed, last_boot, last_since_boot, set_at, is_initial, seen_at, mac"

  /// Updates the row in place: a replaced row would also change its index, and each changed page costs time.
  private static let storing = """
    INSERT INTO slot (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (container, domain, kind) DO UPDATE SET
      header = excluded.header, sealed_secret = excluded.sealed_secret, wrapped_key = excluded.wrapped_key,
      failed = excluded.failed, last_boot = excluded.last_boot, last_since_boot = excluded.last_since_boot,
      set_at = excluded.set_at, is_initial = excluded.is_initial, seen_at = excluded.seen_at, mac = excluded.mac
    """

  static func rows(of container: LocalContainerID, in database: Database) throws(SQLiteFailure) -> [Row] {
    try database.query("SELECT \(columns) FROM slot WHERE container = ?", .blob(container.bytes))
  }

  /// Stores the slot; replaces one of the same kind.
  ///
  /// - Returns: The row's MAC.
  func store(in database: Database, _ seal: RowSeal) throws(SQLiteFailure) -> [UInt8] {
    let code = seal.code(
      Self.canonicalBytes(slot.header.bytes, slot.sealedSecret, slot.wrappedKey, state))
    try database.execute(
      Self.storing,
      [
        .blob(domainID.container.bytes), .text(domainID.domain), .integer(Int64(slot.header.kind.rawValue)),
        .blob(slot.header.bytes), .blob(slot.sealedSecret), .blob(slot.wrappedKey),
      ] + state + [.blob(code)])
    return code
  }

  private var domainID: DomainID { slot.header.domainID }

  init(slot: ProtectionSlot, attempts: AttemptState, password: PasswordTimes?) {
    self.slot = slot
    self.attempts = attempts
    self.password = password
  }

  /// Reads and verifies a row.
  ///
  /// - Throws: ``VaultFailure``: `altered` if the row's MAC does not verify, `costOutOfRange`, `tooNew`.
  init(_ row: Row, in container: LocalContainerID, _ tables: VaultTables) throws(VaultFailure) {
    var domain = "?"
    do {
      domain = try row.text("domain")
      let header = try row.blob("header")
      let sealedSecret = try row.blob("sealed_secret")
      let wrappedKey = try row.blob("wrapped_key")
      let state = [
        SQLiteValue.integer(try row.integer("failed")), .optional(try row.optionalBlob("last_boot")),
        .optional(try row.optionalInteger("last_since_boot")), .optional(try row.optionalInteger("set_at")),
        .optional(try row.optionalInteger("is_initial")), .optional(try row.optionalInteger("seen_at")),
      ]
      // The header contains the domain ID, so the columns that found the row only have to agree with it.
      guard
        tables.seal.isValid(try row.blob("mac"), Self.canonicalBytes(header, sealedSecret, wrappedKey, state))
      else { throw SlotHeader.Refusal.malformed }
      let parsed = try SlotHeader(parsing: header, floor: tables.floor)
      guard parsed.domainID == DomainID(vault: tables.seal.vault, container: container, domain: domain),
        try row.integer("kind") == Int64(parsed.kind.rawValue)
      else { throw SlotHeader.Refusal.malformed }
      slot = ProtectionSlot(header: parsed, sealedSecret: sealedSecret, wrappedKey: wrappedKey)
      attempts = try AttemptState(row)
      password = try PasswordTimes(row)
    } catch SlotHeader.Refusal.cost(let cost) {
      throw .costOutOfRange(cost)
    } catch SlotHeader.Refusal.unknownVersion(let version) {
      // The row is authentic, so a newer program on this device wrote it.
      throw .tooNew(found: Int(version), supported: Int(SlotHeader.currentVersion))
    } catch { throw .altered(.slot(container, domain: domain)) }
  }

  /// The attempts and password times, in column order.
  private var state: [SQLiteValue] {
    let last = attempts.lastAttempt
    return [
      .int(attempts.failedCount), .optional(last?.bootID.bytes), .optional(last?.millisecondsSinceBoot),
      .optional(password?.stamp.setAt), .optional(password.map { $0.stamp.isInitial ? 1 : 0 }),
      .optional(password?.seenAt),
    ]
  }

  private static func canonicalBytes(
    _ header: [UInt8], _ sealedSecret: [UInt8], _ wrappedKey: [UInt8], _ state: [SQLiteValue]
  ) -> CanonicalBytes {
    var row = CanonicalBytes("slot")
    row.append(header)
    row.append(sealedSecret)
    row.append(wrappedKey)
    // The MAC of a version 1 row covers the count only.
    let hasMore = state.dropFirst().contains { $0 != .null }
    for value in hasMore ? state : Array(state.prefix(1)) {
      switch value {
      case .integer(let number): row.append(number)
      case .blob(let bytes): row.append(bytes)
      default: row.append([])
      }
    }
    return row
  }
}

extension AttemptState {
  /// - Throws: ``SlotHeader/Refusal/malformed`` for values that are never stored.
  fileprivate init(_ row: Row) throws {
    guard let failed = Int(exactly: try row.integer("failed")), failed >= 0 else {
      throw SlotHeader.Refusal.malformed
    }
    let boot = try row.optionalBlob("last_boot").map(BootID.init(bytes:))
    var last: BootInstant?
    switch (boot, try row.optionalInteger("last_since_boot")) {
    case (nil, nil): break
    case (.some(.some(let boot)), let since?):
      last = BootInstant(bootID: boot, millisecondsSinceBoot: since)
    default: throw SlotHeader.Refusal.malformed
    }
    self.init(failedCount: failed, lastAttempt: last)
  }
}

extension PasswordTimes {
  /// - Throws: ``SlotHeader/Refusal/malformed`` for values that are never stored.
  fileprivate init?(_ row: Row) throws {
    let (set, initial) = (try row.optionalInteger("set_at"), try row.optionalInteger("is_initial"))
    guard let set, let initial, let seen = try row.optionalInteger("seen_at") else { return nil }
    guard initial == 0 || initial == 1 else { throw SlotHeader.Refusal.malformed }
    self.init(stamp: PasswordStamp(setAt: set, isInitial: initial == 1), seenAt: seen)
  }
}
