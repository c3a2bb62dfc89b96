package import SignetCrypto
package import SignetPolicy

/// The means of opening a protection domain.
@nonexhaustive package enum DomainOpening: ~Copyable, Sendable {
  /// The device alone.
  case device
  /// A password: UTF-8 as typed.
  case password(SecretBytes)
  /// The recovery code that was shown when it was made.
  case recovery(RecoveryCode)
}

/// The data of a protection domain that is available without opening it.
package struct ProtectionDomain: Sendable, Hashable {
  package let name: String
  package let slot: SlotKind
  /// The keystore that binds the slot to the device.
  package let keystore: KeystoreKind
  package let lockPolicy: LockPolicy
  /// The decision about an attempt now, with the number of attempts left.
  package let attempts: AttemptDecision
  /// The lock status, for display.
  package let status: LockStatus
  /// The time when the password was set; `nil` if there is no password or the time is unknown.
  package let password: PasswordTimes?
}

extension Vault {
  /// Returns the domains of a container, one entry for each slot.
  ///
  /// If an attempt may be in progress, this waits for its result.
  ///
  /// - Throws: ``VaultFailure``.
  package func domains(of id: LocalContainerID) throws(VaultFailure) -> [ProtectionDomain] {
    do {
      let rows = try decided(
        unless: { $0.allSatisfy { $0.slot.header.kind != .password || $0.attempts.failedCount == 0 } }
      ) {
        try tables.read(id) { try $0.allSlots() }
      }
      let now = waitInstantForDisplay
      return rows.map { row in
        let header = row.slot.header
        return ProtectionDomain(
          name: header.domainID.domain, slot: header.kind, keystore: header.keystore,
          lockPolicy: header.lockPolicy, attempts: header.lockPolicy.decision(after: row.attempts, at: now),
          status: status(of: row, at: now), password: row.password)
      }
    } catch { throw VaultFailure(error) }
  }

  /// Opens a protection domain.
  ///
  /// A password attempt is counted on the disk before it is made; a success resets the count. So an attacker gains no guess beyond
  /// the lock policy by ending the process or by parallel attempts. Counting starts after the key derivation, and one process
  /// counts at a time. So a successful attempt never counts against another one. Only a process that ends in the milliseconds
  /// between leaves an attempt counted. A *silent* domain opens with any password; a wrong one gives other secrets.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - opening: The means of opening it.
  /// - Returns: The open domain; the end of its lifetime locks it.
  /// - Throws: ``VaultFailure``; above all `wrongPassword`, `waiting`, `lockedOut` and `wiped`.
  package func open(
    _ domain: String, of id: LocalContainerID, with opening: consuming DomainOpening
  ) throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let domainID = DomainID(vault: seal.vault, container: id, domain: domain)
    defer { DeadStack.wipe() }
    do { return try opened(domainID, opening, start) } catch { throw VaultFailure(error) }
  }

  /// Has its own stack frame, so that the caller's wipe of the dead stack covers it.
  @inline(never)
  private func opened(
    _ domainID: DomainID, _ opening: consuming DomainOpening, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    switch consume opening {
    case .device: return try openWithHardware(domainID, .device, start)
    case .password(let typed):
      let password = try preparedPassword(typed)
      return try openWithPassword(domainID, password, start)
    case .recovery(let code): return try openWithRecoveryCode(domainID, code, start)
    }
  }

  /// Opens a slot that needs the hardware only; the caller has made all other checks, such as a match.
  func openWithHardware(
    _ domainID: DomainID, _ kind: SlotKind, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    let (row, sealed) = try tables.read(domainID.container) {
      (try $0.slot(domainID.domain, kind), try $0.records(of: domainID.domain))
    }
    let secret = try hardwareSecret(of: row.slot)
    // The row is authentic, so only a fault in this device's storage explains this.
    guard let masterKey = try row.slot.unwrap(hardwareSecret: secret, derived: nil) else {
      throw VaultFailure.altered(.slot(domainID.container, domain: domainID.domain))
    }
    let slot = try upgraded(row, masterKey, hardwareSecret: secret)
    return UnlockedDomain(
      slot: slot, timing: UnlockTiming(total: start.duration(to: .now), keyDerivation: .zero),
      masterKey: masterKey, silent: nil, records: sealed)
  }

  /// Replaces a slot of an earlier version by one of the current version.
  private func upgraded(
    _ row: SlotRow, _ masterKey: borrowing SecretBytes, hardwareSecret: borrowing SecretBytes
  ) throws -> ProtectionSlot {
    guard row.slot.header.version < SlotHeader.currentVersion else { return row.slot }
    var header = row.slot.header
    header.version = SlotHeader.currentVersion
    let slot = try ProtectionSlot.wrapping(
      masterKey, header: header, derived: nil, hardwareSecret: hardwareSecret, sealed: row.slot.sealedSecret)
    return try tables.change(header.domainID.container) { rows in
      var current = try rows.slot(header.domainID.domain, header.kind)
      guard current.slot == row.slot else { return current.slot }  // another process replaced it first
      current.slot = slot
      try rows.store(current)
      return slot
    }
  }

  private func openWithRecoveryCode(
    _ domainID: DomainID, _ code: RecoveryCode, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    // 128 bits cannot be guessed, so attempts are not limited. The change advances the counter: it rejects a rolled-back
    // folder, in which an older code would be valid.
    let (row, sealed) = try tables.change(domainID.container) {
      (try $0.slot(domainID.domain, .recovery), try $0.records(of: domainID.domain))
    }
    let secret = try hardwareSecret(of: row.slot)
    guard let masterKey = try row.slot.unwrap(hardwareSecret: secret, derived: code.secret) else {
      throw VaultFailure.wrongRecoveryCode
    }
    return UnlockedDomain(
      slot: row.slot, timing: UnlockTiming(total: start.duration(to: .now), keyDerivation: .zero),
      masterKey: masterKey, silent: nil, records: sealed)
  }

  private func openWithPassword(
    _ domainID: DomainID, _ password: SharedSecretBox, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    var renewal = Duration.zero
    while true {
      let trial = try tryPassword(password, domainID)
      // A slot is renewed only once, so the reported duration excludes that time.
      let beforeRenewal = ContinuousClock.now
      let slot = renewedSlot(trial, password)
      renewal += beforeRenewal.duration(to: .now)
      guard let slot else { continue }
      let total = start.duration(to: .now) - renewal
      return UnlockedDomain(
        slot: slot, timing: UnlockTiming(total: total, keyDerivation: trial.derivation),
        masterKey: trial.masterKey.withSecret { $0.copy() }, silent: trial.silent, records: trial.records)
    }
  }

  func hardwareSecret(of slot: ProtectionSlot) throws -> SecretBytes {
    try requireKeystore(of: slot)
    return try keystore.unseal(
      slot.sealedSecret, context: slot.header.domainID.hardwareContext(slot.header.kind))
  }

  func requireKeystore(of slot: ProtectionSlot) throws(VaultFailure) {
    guard slot.header.keystore == keystore.kind else {
      throw .otherKeystore(found: slot.header.keystore, expected: keystore.kind)
    }
  }
}
