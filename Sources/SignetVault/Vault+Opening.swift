package import SignetCrypto
package import SignetPolicy

/// How a protection domain is to be opened.
@nonexhaustive package enum DomainOpening: ~Copyable, Sendable {
  /// By the device alone.
  case device
  /// With a password: UTF-8 as typed.
  case password(SecretBytes)
  /// With the code that was printed when it was made.
  case recovery(RecoveryCode)
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
  /// Whether it may be tried now, and how often.
  package let attempts: AttemptDecision
  /// What to tell about its lock.
  package let status: LockStatus
  /// When the password was set; `nil` where none is, or nobody knows.
  package let password: PasswordTimes?
}

extension Vault {
  /// The domains of a container, one entry for each way of opening one.
  ///
  /// Where an attempt may be under way, this waits for its result.
  ///
  /// - Throws: ``VaultFailure``.
  package func domains(of id: ContainerID) throws(VaultFailure) -> [ProtectionDomain] {
    do {
      let rows = try decided(
        unless: { $0.allSatisfy { $0.slot.header.kind != .password || $0.attempts.failedCount == 0 } }
      ) {
        try tables.read(id) { try $0.allSlots() }
      }
      let now = waitInstantToTell
      return rows.map { row in
        let header = row.slot.header
        return ProtectionDomain(
          name: header.place.domain, slot: header.kind, keystore: header.keystore,
          lockPolicy: header.lockPolicy, attempts: header.lockPolicy.decision(after: row.attempts, at: now),
          status: status(of: row, at: now), password: row.password)
      }
    } catch { throw VaultFailure(error) }
  }

  /// Opens a protection domain.
  ///
  /// With a password, the attempt is counted and on the disk before the password is tried; a success takes the count back. So
  /// neither ending the process nor trying in many at once gives a guess more than the lock policy allows. Counting begins after
  /// the derivation, and one process at a time counts: no attempt that succeeds counts against another, and only a process that is
  /// ended in the milliseconds between leaves one counted. A *silent* domain opens with any password, and gives other secrets with a
  /// wrong one.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - opening: What opens it.
  /// - Returns: The open domain; letting go of it locks it.
  /// - Throws: ``VaultFailure``; above all `wrongPassword`, `waiting`, `lockedOut` and `wiped`.
  package func open(
    _ domain: String, of id: ContainerID, with opening: consuming DomainOpening
  ) throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let place = DomainPlace(vault: seal.vault, container: id, domain: domain)
    defer { DeadStack.wipe() }
    do { return try opened(place, opening, start) } catch { throw VaultFailure(error) }
  }

  /// In a frame of its own, so that what it saves is in what is wiped.
  @inline(never)
  private func opened(
    _ place: DomainPlace, _ opening: consuming DomainOpening, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    switch consume opening {
    case .device: return try openWithHardware(place, .device, start)
    case .password(let typed):
      let password = try preparedPassword(typed)
      return try openWithPassword(place, password, start)
    case .recovery(let code): return try openWithRecoveryCode(place, code, start)
    }
  }

  /// Opens a slot that the hardware alone opens; whatever has to come before has come.
  func openWithHardware(
    _ place: DomainPlace, _ kind: SlotKind, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    let (row, sealed) = try tables.read(place.container) {
      (try $0.slot(place.domain, kind), try $0.records(of: place.domain))
    }
    let secret = try hardwareSecret(of: row.slot)
    // The row is authentic, so nothing but this device's own storage can have gone wrong.
    guard let masterKey = try row.slot.unwrap(hardwareSecret: secret, derived: nil) else {
      throw VaultFailure.altered(.slot(place.container, domain: place.domain))
    }
    let slot = try upgraded(row, masterKey, hardwareSecret: secret)
    return UnlockedDomain(
      slot: slot, timing: UnlockTiming(total: start.duration(to: .now), keyDerivation: .zero),
      masterKey: masterKey, silent: nil, records: sealed)
  }

  /// Puts a slot of the present version in the place of one that an earlier program has made.
  private func upgraded(
    _ row: SlotRow, _ masterKey: borrowing SecretBytes, hardwareSecret: borrowing SecretBytes
  ) throws -> ProtectionSlot {
    guard row.slot.header.version < SlotHeader.currentVersion else { return row.slot }
    var header = row.slot.header
    header.version = SlotHeader.currentVersion
    let slot = try ProtectionSlot.wrapping(
      masterKey, header: header, derived: nil, hardwareSecret: hardwareSecret, sealed: row.slot.sealedSecret)
    return try tables.change(header.place.container) { rows in
      var current = try rows.slot(header.place.domain, header.kind)
      guard current.slot == row.slot else { return current.slot }  // another process was quicker
      current.slot = slot
      try rows.store(current)
      return slot
    }
  }

  private func openWithRecoveryCode(
    _ place: DomainPlace, _ code: RecoveryCode, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    // Nobody guesses 128 bits, so nothing is counted but the use: an older copy, in which an older code is right, is refused.
    let (row, sealed) = try tables.change(place.container) {
      (try $0.slot(place.domain, .recovery), try $0.records(of: place.domain))
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
    _ place: DomainPlace, _ password: SharedSecretBox, _ start: ContinuousClock.Instant
  ) throws -> UnlockedDomain {
    var renewal = Duration.zero
    while true {
      let trial = try tryPassword(password, place)
      // A better slot is made once; how long opening takes is meant without it.
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
      slot.sealedSecret, context: slot.header.place.hardwareContext(slot.header.kind))
  }

  func requireKeystore(of slot: ProtectionSlot) throws(VaultFailure) {
    guard slot.header.keystore == keystore.kind else {
      throw .otherKeystore(found: slot.header.keystore, expected: keystore.kind)
    }
  }
}
