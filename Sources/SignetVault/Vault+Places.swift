import SignetCrypto
import SignetPolicy
import SignetSQLite

/// How slots get places in hardware, and how these are given back.
///
/// A place is noted in a table before it is taken, and leaves the table in the transaction that stores the slot. So what is in the
/// table belongs to no slot: to one that is being made, that was never stored, or that is gone. Whoever makes a slot holds a shared
/// lock meanwhile, which the system takes back with the process; who gets the lock alone gives back all that is in the table.
extension Vault {
  /// Makes slots, with ``newSlot(_:header:derived:hardwareSecret:)``, and stores them; what was made and not stored is given back.
  func storingSlots<R>(_ body: () throws -> R) throws -> R {
    guard keystore is any GuessLimitingKeystore else { return try body() }
    do {
      let lock = try FolderLock(placeLockPath, .shared)
      defer { lock?.release() }
      return try body()
    } catch {
      // Where this fails, the next who opens the vault does it.
      do { try tables.giveBackPlaces(of: keystore, placeLockPath) } catch {}
      throw error
    }
  }

  /// Makes a slot, and has the keystore seal its hardware secret.
  ///
  /// - Precondition: Called in ``storingSlots(_:)``, outside of a transaction.
  func newSlot(
    _ masterKey: borrowing SecretBytes, header: SlotHeader, derived: SharedSecretBox?,
    hardwareSecret: borrowing SecretBytes
  ) throws -> NewSlot {
    let context = header.place.hardwareContext(header.kind)
    let sealed: [UInt8]
    var place: [UInt8]?
    if let limit = header.guessLimit, let derived, let hardware = keystore as? any GuessLimitingKeystore {
      let chosen = try hardware.choosePlace()
      try tables.changeState(isCounted: false) { state in
        try state.changePlaces(in: tables) { $0.insert(chosen) }
      }
      sealed = try hardware.seal(
        hardwareSecret, context: context, authorization: ProtectionSlot.authorization(derived), limit: limit,
        at: chosen)
      place = chosen
    } else {
      sealed = try keystore.seal(hardwareSecret, context: context)
    }
    let slot = try ProtectionSlot.wrapping(
      masterKey, header: header, derived: derived, hardwareSecret: hardwareSecret, sealed: sealed)
    return NewSlot(slot: slot, place: place)
  }

  /// Gives places back, and takes what was deleted out of the write-ahead log too.
  ///
  /// The change itself is on the disk by now, so this does not fail: where another process is reading, the disk is full or the
  /// hardware is busy, it is done later.
  func forgetReplaced() {
    do { try tables.giveBackPlaces(of: keystore, placeLockPath) } catch {}
    do throws(SQLiteFailure) { try database.checkpoint() } catch {}
  }
}

/// A slot that is not stored yet.
struct NewSlot {
  let slot: ProtectionSlot
  /// The place that it takes up, as it is noted; `nil` for none.
  let place: [UInt8]?
}

extension ContainerRows {
  /// Stores a new slot; its place is in use from then on, and that of the slot before it no more.
  mutating func store(
    _ new: NewSlot, attempts: AttemptState = .afterSuccess, password: PasswordTimes? = nil
  ) throws {
    let header = new.slot.header
    let old: ProtectionSlot?
    do throws(VaultFailure) { old = try slot(header.place.domain, header.kind).slot } catch .noSuchSlot {
      old = nil
    }
    try changePlaces { places in
      if let place = new.place, places.remove(place) == nil { throw VaultFailure.busy }
      if let old, old.header.guessLimit != nil { places.insert(old.sealedSecret) }
    }
    try store(SlotRow(slot: new.slot, attempts: attempts, password: password))
  }
}

extension VaultTables {
  /// Gives back all places that no slot has, unless a slot is being made somewhere.
  func giveBackPlaces(of keystore: any HardwareKeystore, _ lockPath: String) throws {
    guard let hardware = keystore as? any GuessLimitingKeystore, try !placesWithoutSlot().isEmpty,
      let lock = try FolderLock(lockPath, .alone)
    else { return }
    defer { lock.release() }
    for place in try placesWithoutSlot() {
      do throws(KeystoreFailure) { try hardware.discard(place) } catch { continue }
      try changeState(isCounted: false) { state in try state.changePlaces(in: self) { $0.remove(place) } }
    }
  }

  func placesWithoutSlot() throws -> Set<[UInt8]> {
    try database.transaction(.deferred) { try VaultState(from: self).places(in: self) }
  }
}
