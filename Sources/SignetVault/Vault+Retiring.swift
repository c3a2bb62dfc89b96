import SignetSQLite

/// What takes up a place in hardware, and is not needed any more.
///
/// A place is given back only after the change that made it useless is on the disk; until then the blob waits in a table. If the
/// process ends in between, the next one that opens the vault gives it back.
extension Vault {
  /// Notes that a slot's secret is not needed any more, in the transaction that takes the slot away.
  func retire(_ slot: ProtectionSlot) throws {
    guard slot.header.guessLimit != nil, keystore is any GuessLimitingKeystore else { return }
    try database.execute("INSERT INTO retired (blob) VALUES (?)", .blob(slot.sealedSecret))
  }

  /// Notes that the secrets of many slots are not needed any more.
  func retireSlots(where condition: String, _ values: [SQLiteValue]) throws {
    guard keystore is any GuessLimitingKeystore else { return }
    try database.execute(
      "INSERT INTO retired (blob) SELECT sealed_secret FROM slot WHERE \(condition)", values)
  }

  /// Runs the change that stores new slots; if it fails, gives back the places that they take up.
  func storing<R>(_ slots: [ProtectionSlot], _ body: () throws -> R) throws -> R {
    do { return try body() } catch {
      for slot in slots { discardUnused(slot) }
      throw error
    }
  }

  /// Gives the place of a slot back, unless it was stored after all, or nobody can tell.
  private func discardUnused(_ slot: ProtectionSlot) {
    guard slot.header.guessLimit != nil, let keystore = keystore as? any GuessLimitingKeystore else { return }
    do {
      let stored = try database.query("SELECT 1 FROM slot WHERE sealed_secret = ?", .blob(slot.sealedSecret))
      if stored.isEmpty { try keystore.discard(slot.sealedSecret) }
    } catch {}
  }

  /// Gives places back, and takes what was deleted out of the write-ahead log too.
  ///
  /// The change itself is on the disk by now, so this does not fail: where another process is reading, the disk is full or the
  /// hardware is busy, it is done later.
  func forgetReplaced() {
    do { try Self.discardRetired(in: database, keystore) } catch {}
    do throws(SQLiteFailure) { try database.checkpoint() } catch {}
  }

  /// Gives back the places that wait for it.
  ///
  /// A blob that a slot still has stays: nobody gets a live one discarded by writing it into the table.
  static func discardRetired(in database: Database, _ keystore: any HardwareKeystore) throws {
    guard let keystore = keystore as? any GuessLimitingKeystore else { return }
    for row in try database.query(
      "SELECT rowid AS number, blob FROM retired WHERE blob NOT IN (SELECT sealed_secret FROM slot)")
    {
      do throws(KeystoreFailure) { try keystore.discard(try row.retiredBlob) } catch { continue }
      try database.execute("DELETE FROM retired WHERE rowid = ?", .integer(try row.integer("number")))
    }
  }
}

extension Row {
  /// What is to be discarded; what is no blob takes up no place.
  fileprivate var retiredBlob: [UInt8] {
    get throws(KeystoreFailure) {
      do { return try blob("blob") } catch { throw .refused }
    }
  }
}
