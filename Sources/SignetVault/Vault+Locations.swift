import SignetCrypto
import SignetPolicy
import SignetSQLite

/// Reserves and releases the hardware locations of slots.
///
/// A location is listed in a table before it is reserved, and leaves the table in the transaction that stores its slot. So a
/// listed location belongs to a slot in creation, to one that was never stored, or to a deleted one. A process that makes a
/// slot holds a shared lock, which the system releases when the process ends. A process that gets the lock exclusively frees
/// all listed locations.
extension Vault {
  /// Makes slots with ``newSlot(_:header:derived:hardwareSecret:)`` and stores them; on failure, releases unstored locations.
  func storingSlots<R>(_ body: () throws -> R) throws -> R {
    guard keystore is any GuessLimitingKeystore else { return try body() }
    do {
      let lock = try FolderLock(locationLockPath, .shared)
      defer { lock?.release() }
      return try body()
    } catch {
      // If this fails, the next opening of the vault releases them.
      do { try tables.releaseLocations(of: keystore, locationLockPath) } catch {}
      throw error
    }
  }

  /// Makes a slot; the keystore seals its hardware secret.
  ///
  /// - Precondition: Called in ``storingSlots(_:)``, outside of a transaction.
  func newSlot(
    _ masterKey: borrowing SecretBytes, header: SlotHeader, derived: SharedSecretBox?,
    hardwareSecret: borrowing SecretBytes
  ) throws -> NewSlot {
    let context = header.domainID.hardwareContext(header.kind)
    let sealed: [UInt8]
    var location: [UInt8]?
    if let limit = header.guessLimit, let derived, let hardware = keystore as? any GuessLimitingKeystore {
      let chosen = try hardware.chooseLocation()
      try tables.changeState(isCounted: false) { state in
        try state.changeLocations(in: tables) { $0.insert(chosen) }
      }
      sealed = try hardware.seal(
        hardwareSecret, context: context, authorization: ProtectionSlot.authorization(derived), limit: limit,
        at: chosen)
      location = chosen
    } else {
      sealed = try keystore.seal(hardwareSecret, context: context)
    }
    let slot = try ProtectionSlot.wrapping(
      masterKey, header: header, derived: derived, hardwareSecret: hardwareSecret, sealed: sealed)
    return NewSlot(slot: slot, location: location)
  }

  /// Releases unused locations, and removes deleted data from the write-ahead log.
  ///
  /// The change itself is already on the disk, so this does not fail. If another process is reading, the disk is full or the
  /// hardware is busy, the work is done later.
  func forgetReplaced() {
    do { try tables.releaseLocations(of: keystore, locationLockPath) } catch {}
    do throws(SQLiteFailure) { try database.checkpoint() } catch {}
  }
}

struct NewSlot {
  let slot: ProtectionSlot
  /// The listed name of the location that it occupies; `nil` if it has none.
  let location: [UInt8]?
}

extension ContainerRows {
  /// Stores a new slot; its location is then in use, and the location of the replaced slot is listed for release.
  mutating func store(
    _ new: NewSlot, attempts: AttemptState = .afterSuccess, password: PasswordTimes? = nil
  ) throws {
    let header = new.slot.header
    let old: ProtectionSlot?
    do throws(VaultFailure) { old = try slot(header.domainID.domain, header.kind).slot } catch .noSuchSlot {
      old = nil
    }
    try changeLocations { locations in
      if let location = new.location, locations.remove(location) == nil { throw VaultFailure.busy }
      if let old, old.header.guessLimit != nil { locations.insert(old.sealedSecret) }
    }
    try store(SlotRow(slot: new.slot, attempts: attempts, password: password))
  }
}

extension VaultTables {
  /// Releases all locations that no slot uses, unless a process is making a slot.
  func releaseLocations(of keystore: any HardwareKeystore, _ lockPath: String) throws {
    guard let hardware = keystore as? any GuessLimitingKeystore, try !unusedLocations().isEmpty,
      let lock = try FolderLock(lockPath, .exclusive(within: .zero))
    else { return }
    defer { lock.release() }
    for location in try unusedLocations() {
      do throws(KeystoreFailure) { try hardware.discard(location) } catch { continue }
      try changeState(isCounted: false) { state in try state.changeLocations(in: self) { $0.remove(location) }
      }
    }
  }

  func unusedLocations() throws -> Set<[UInt8]> {
    try database.transaction(.deferred) { try VaultState(from: self).locations(in: self) }
  }
}
