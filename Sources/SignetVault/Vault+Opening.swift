package import SignetCrypto
package import SignetPolicy
import SignetSQLite

/// How a protection domain is to be opened.
@nonexhaustive package enum DomainOpening: ~Copyable, Sendable {
  /// By the device alone.
  case device
  /// With a password: UTF-8 as typed.
  case password(SecretBytes)
}

/// What is known about a protection domain without opening it.
package struct ProtectionDomain: Sendable, Hashable {
  /// Its name in the container.
  package let name: String
  /// One way of opening it.
  package let slot: SlotKind
  /// What ties it to the device.
  package let keystore: KeystoreKind
  /// What failed attempts cost.
  package let lockPolicy: LockPolicy
  /// Whether it may be tried, and how often.
  package let attempts: AttemptDecision
}

extension Vault {
  /// The domains of a container, one entry for each way of opening one.
  ///
  /// - Throws: ``VaultFailure``.
  package func domains(of id: ContainerID) throws(VaultFailure) -> [ProtectionDomain] {
    do {
      _ = try Container.find(id, in: database, seal)
      return try SlotRow.all(of: id, in: database, seal, floor: settings.insecureCostFloor).map { row in
        let header = row.slot.header
        return ProtectionDomain(
          name: header.place.domain, slot: header.kind, keystore: header.keystore,
          lockPolicy: header.lockPolicy, attempts: header.lockPolicy.decision(after: row.attempts, at: .start)
        )
      }
    } catch { throw VaultFailure(error) }
  }

  /// Opens a protection domain.
  ///
  /// With a password, the attempt is counted and on the disk before the password is tried; a success takes the count back. So
  /// neither ending the process nor trying in many at once gives a guess more than the lock policy allows.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - opening: What opens it.
  /// - Returns: The open domain; letting go of it locks it.
  /// - Throws: ``VaultFailure``; above all `wrongPassword` and `lockedOut`.
  package func open(
    _ domain: String, of id: ContainerID, with opening: consuming DomainOpening
  ) throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let place = DomainPlace(vault: seal.vault, container: id, domain: domain)
    defer { DeadStack.wipe() }
    do {
      switch consume opening {
      case .device: return try openWithDevice(place, start)
      case .password(let typed):
        let password = try preparedPassword(typed)
        return try openWithPassword(place, password, start)
      }
    } catch { throw VaultFailure(error) }
  }

  private func openWithDevice(
    _ place: DomainPlace, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    let (row, sealed) = try database.transaction(.deferred) {
      (try find(place, .device), try sealedRecords(of: place))
    }
    let secret = try hardwareSecret(of: row.slot)
    // The row is authentic, so nothing but this device's own storage can have gone wrong.
    guard let masterKey = try row.slot.unwrap(hardwareSecret: secret, derived: nil) else {
      throw VaultFailure.altered(.slot(place.container, domain: place.domain))
    }
    return UnlockedDomain(
      openedBy: .device, timing: UnlockTiming(total: start.duration(to: .now), keyDerivation: .zero),
      place: place, masterKey: masterKey, records: sealed)
  }

  private func openWithPassword(
    _ place: DomainPlace, _ password: SharedSecretBox, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    let counted = try countAttempt(place)
    let secret = try hardwareSecret(of: counted.slot)
    let beforeDerivation = ContinuousClock.now
    let derived = try password.withSecret { try counted.slot.header.derive($0, settings.derivation) }
    let derivation = beforeDerivation.duration(to: .now)
    guard let masterKey = try counted.slot.unwrap(hardwareSecret: secret, derived: SharedSecretBox(derived))
    else {
      switch counted.slot.header.lockPolicy.decision(after: counted.attempts, at: .start) {
      case .allowed(let remaining), .wait(_, let remaining):
        throw VaultFailure.wrongPassword(remaining: remaining)
      case .lockedOut, .wipe: throw VaultFailure.wrongPassword(remaining: 0)
      }
    }
    let sealed = try database.transaction {
      var row = try find(place, .password)
      row.attempts = .afterSuccess
      try row.updateAttempts(in: database, seal)
      return try sealedRecords(of: place)
    }
    return UnlockedDomain(
      openedBy: .password, timing: UnlockTiming(total: start.duration(to: .now), keyDerivation: derivation),
      place: place, masterKey: masterKey, records: sealed)
  }

  /// Counts an attempt as failed before it is made, on the disk, while no other process can count.
  ///
  /// - Returns: The slot with the new count.
  private func countAttempt(_ place: DomainPlace) throws -> SlotRow {
    try database.transaction {
      var row = try find(place, .password)
      guard case .allowed = row.slot.header.lockPolicy.decision(after: row.attempts, at: .start) else {
        throw VaultFailure.lockedOut
      }
      row.attempts = row.attempts.countingAttempt(at: .start)
      try row.updateAttempts(in: database, seal)
      return row
    }
  }

  private func find(_ place: DomainPlace, _ kind: SlotKind) throws -> SlotRow {
    // Says which of the two is missing.
    _ = try Container.find(place.container, in: database, seal)
    return try SlotRow.find(place, kind, in: database, seal, floor: settings.insecureCostFloor)
  }

  private func hardwareSecret(of slot: ProtectionSlot) throws -> SecretBytes {
    guard slot.header.keystore == keystore.kind else {
      throw VaultFailure.otherKeystore(found: slot.header.keystore, expected: keystore.kind)
    }
    return try keystore.unseal(
      slot.sealedSecret, context: slot.header.place.hardwareContext(slot.header.kind))
  }

  private func sealedRecords(of place: DomainPlace) throws -> [String: [UInt8]] {
    let rows = try database.query(
      "SELECT name, sealed FROM record WHERE container = ? AND domain = ?", .blob(place.container.bytes),
      .text(place.domain))
    return try rows.reduce(into: [:]) { records, row in records[try row.text("name")] = try row.blob("sealed")
    }
  }
}

extension BootInstant {
  /// Some moment: slots hold no lock policy with a wait yet, so a decision does not depend on it.
  fileprivate static let start = BootInstant(bootID: BootID(high: 0, low: 0), millisecondsSinceBoot: 0)
}
