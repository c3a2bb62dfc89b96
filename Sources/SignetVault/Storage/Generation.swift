import SignetSQLite

/// The number of a vault's state, which a keystore that counts keeps too: an older copy of the folder has a lower one.
///
/// Every change that an older copy could undo to somebody's advantage takes the next number: counting an attempt, changing a
/// slot, adding or deleting a container. First the change and its number are on the disk, then the hardware counts, and only
/// then is anything done that the change allows, such as trying a password. So a number above the hardware's is a change that
/// was cut off, and a number below is an older copy.
struct Generation {
  let keystore: any CountingKeystore
  /// What names the counter in the hardware; authenticated in the vault's row.
  let counter: [UInt8]

  /// The number of the state on the disk.
  ///
  /// - Precondition: Called in a transaction that keeps others from writing: the hardware never counts ahead of the disk.
  /// - Throws: ``VaultFailure/rolledBack(found:expected:)``, ``VaultFailure/altered(_:)``, ``KeystoreFailure``.
  func current(in database: Database, _ seal: RowSeal) throws -> UInt64 {
    guard let row = try database.query("SELECT number, mac FROM generation").first else {
      throw VaultFailure.altered(.vault)
    }
    let number = try row.integer("number")
    guard seal.isValid(try row.blob("mac"), Self.canonicalBytes(number)) else {
      throw VaultFailure.altered(.vault)
    }
    let found = UInt64(bitPattern: number)
    let expected = try keystore.counterValue(counter)
    guard found >= expected else { throw VaultFailure.rolledBack(found: found, expected: expected) }
    return found
  }

  /// Stores a number.
  func store(_ number: UInt64, in database: Database, _ seal: RowSeal) throws {
    let number = Int64(bitPattern: number)
    try database.execute(
      "INSERT OR REPLACE INTO generation (one, number, mac) VALUES (1, ?, ?)", .integer(number),
      .blob(seal.code(Self.canonicalBytes(number))))
  }

  /// Has the hardware count up to a number that is on the disk.
  func reach(_ number: UInt64) throws(KeystoreFailure) {
    var value = try keystore.counterValue(counter)
    while value < number { value = try keystore.advanceCounter(counter) }
  }

  private static func canonicalBytes(_ number: Int64) -> CanonicalBytes {
    var row = CanonicalBytes("generation")
    row.append(number)
    return row
  }
}

extension Vault {
  /// Runs a change that an older copy of the folder could undo: as a transaction, and with a generation of its own.
  ///
  /// - Throws: What `body` throws; ``VaultFailure/rolledBack(found:expected:)`` if the folder is an older copy.
  func change<R>(_ body: () throws -> R) throws -> R {
    guard let generation else { return try database.transaction(.immediate, body) }
    let (result, number) = try database.transaction {
      let number = try generation.current(in: database, seal) + 1
      let result = try body()
      try generation.store(number, in: database, seal)
      return (result, number)
    }
    try generation.reach(number)
    return result
  }
}
