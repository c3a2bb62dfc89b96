import SignetCrypto
import SignetPolicy
import Synchronization

/// Whether a domain opens with a biometric match.
package enum BiometricAuthentication: Sendable, Hashable {
  /// It does.
  case enabled
  /// It could, and its user has not enabled it.
  case notEnabled
  /// There is no sensor, or nothing that drives it.
  case notCapable
  /// The user has enrolled nothing.
  case notEnrolled
  /// It did, until a finger or face was enrolled or removed: enable it again.
  case invalidated
}

extension Vault {
  /// Whether a domain opens with a biometric match now.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - gate: What matches.
  /// - Returns: The state.
  /// - Throws: ``VaultFailure``; `biometric` where the sensor cannot be asked.
  package func biometricAuthentication(
    of domain: String, in id: ContainerID, with gate: any BiometricGate
  ) async throws(VaultFailure) -> BiometricAuthentication {
    do {
      let enrolled: EnrolledSet
      switch try await gate.state() {
      case .notCapable: return .notCapable
      case .notEnrolled: return .notEnrolled
      case .ready(let set): enrolled = set
      }
      let row: SlotRow
      do { row = try tables.read(id) { try $0.slot(domain, .biometric) } } catch VaultFailure.noSuchSlot {
        return .notEnabled
      }
      return row.slot.header.opening.accepts(enrolled) ? .enabled : .invalidated
    } catch { throw VaultFailure(error) }
  }

  /// Has a biometric match open a domain from now on, as long as nobody enrols or removes a finger or face.
  ///
  /// - Parameters:
  ///   - unlocked: The domain, opened with its password.
  ///   - enrolled: The set that is enrolled now.
  /// - Throws: ``VaultFailure``: `passwordNeeded`, `silentDomain`.
  package func enableBiometrics(
    for unlocked: borrowing UnlockedDomain, _ enrolled: EnrolledSet
  ) throws(VaultFailure) {
    guard unlocked.openedBy == .password else { throw .passwordNeeded(domain: unlocked.name) }
    try add(.biometric(enrolledSet: enrolled.digest), derived: nil, to: unlocked)
  }

  /// Has the passcode of the device open a domain from now on.
  ///
  /// - Parameter unlocked: The domain, opened with its password.
  /// - Throws: ``VaultFailure``: `passwordNeeded`, `silentDomain`.
  package func enablePasscode(for unlocked: borrowing UnlockedDomain) throws(VaultFailure) {
    guard unlocked.openedBy == .password else { throw .passwordNeeded(domain: unlocked.name) }
    try add(.devicePasscode, derived: nil, to: unlocked)
  }

  /// Makes a code that opens a domain when its password is forgotten; the one before it is void from then on.
  ///
  /// - Parameter unlocked: The domain, opened with its password or the code before.
  /// - Returns: The code, which nothing can show again.
  /// - Throws: ``VaultFailure``: `passwordNeeded`, `silentDomain`.
  package func makeRecoveryCode(for unlocked: borrowing UnlockedDomain) throws(VaultFailure) -> RecoveryCode {
    guard unlocked.openedBy == .password || unlocked.openedBy == .recovery else {
      throw .passwordNeeded(domain: unlocked.name)
    }
    let code = RecoveryCode()
    try add(.recovery, derived: code.secret, to: unlocked)
    return code
  }

  /// Takes away one of the ways of opening a domain that were added to its password; nothing happens if there is none.
  ///
  /// - Parameters:
  ///   - kind: Which way; not the password, and not the device.
  ///   - domain: The name of the domain.
  ///   - id: The container.
  /// - Throws: ``VaultFailure``: `noSuchSlot` for a way that cannot be taken away.
  package func removeSlot(_ kind: SlotKind, of domain: String, in id: ContainerID) throws(VaultFailure) {
    guard kind != .password && kind != .device else { throw .noSuchSlot(domain: domain, kind) }
    do {
      try tables.change(id) { try $0.removeSlot(domain, kind) }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }

  /// What to tell about the lock of a slot.
  func status(of row: SlotRow, at now: BootInstant) -> LockStatus {
    let header = row.slot.header
    if header.kind == .biometric, row.attempts.failedCount >= Self.biometricLimit { return .lockedOut }
    return header.lockPolicy.status(after: row.attempts, at: now)
  }

  /// The mismatches in a row after which no match is made until the password was right.
  package static let biometricLimit = 5

  /// Opens a domain after a biometric match.
  ///
  /// Mismatches are counted like wrong passwords, on the disk and before they are made; the right password takes the count back.
  ///
  /// The set that was enrolled while the finger was matched is compared with the one that the slot is bound to. Opening with the
  /// device alone afterwards is the vault's doing: where the matcher says yes or no, it can be no one else's.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - gate: What matches.
  ///   - reason: Why, as the person will read it.
  ///   - hints: Is told what to show while it lasts.
  /// - Returns: The open domain.
  /// - Throws: ``VaultFailure``: `biometric`, `biometricsInvalidated`, `noSuchSlot` where it is not enabled.
  package func openWithBiometrics(
    _ domain: String, of id: ContainerID, with gate: any BiometricGate, reason: String,
    hints: @escaping @Sendable (BiometricHint) -> Void = { _ in }
  ) async throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let place = DomainPlace(vault: seal.vault, container: id, domain: domain)
    do {
      let before = try tables.read(id) { try $0.slot(domain, .biometric) }
      if case .ready(let set) = try await gate.state(),
        !before.slot.header.opening.accepts(set)
      {
        throw VaultFailure.biometricsInvalidated  // nobody need touch the sensor for that
      }
      let counted = try countMatch(place)
      // The vault's count is what counts: the gate's own ends with its process.
      if counted.failedCount == 1 { await gate.endLockout() }
      let mismatches = Mutex(0)
      let matched: EnrolledSet
      do throws(BiometricFailure) {
        matched = try await gate.match(reason) { hint in
          if case .notRecognised = hint { mismatches.withLock { $0 += 1 } }
          hints(hint)
        }
      } catch {
        let last = error == .mismatch || error == .lockedOut ? 1 : 0
        try settleMatch(place, counted, mismatches: mismatches.withLock(\.self) + last)
        throw error
      }
      let slot = try tables.read(id) { try $0.slot(domain, .biometric) }.slot
      guard slot.header.opening.accepts(matched) else {
        throw VaultFailure.biometricsInvalidated
      }
      let opened = try openWithHardware(place, .biometric, start)
      try settleMatch(place, counted, mismatches: nil)
      return opened
    } catch { throw VaultFailure(error) }
  }

  /// Counts a match as failed before it is made, on the disk.
  private func countMatch(_ place: DomainPlace) throws -> AttemptState {
    let now = try waitInstant()
    return try tables.change(place.container) { rows in
      var row = try rows.slot(place.domain, .biometric)
      guard row.attempts.failedCount < Self.biometricLimit else { throw BiometricFailure.lockedOut }
      row.attempts = row.attempts.countingAttempt(at: now)
      try rows.store(row)
      return row.attempts
    }
  }

  /// Puts what a match came to in the place of what was counted before it; `nil` mismatches are a success.
  ///
  /// Where somebody has matched meanwhile, or enabled biometrics anew, this one stays as it was counted.
  private func settleMatch(_ place: DomainPlace, _ counted: AttemptState, mismatches: Int?) throws {
    try tables.change(place.container, isCounted: false) { rows in
      var row = try rows.slot(place.domain, .biometric)
      guard row.attempts == counted else { return }
      row.attempts =
        mismatches.map {
          AttemptState(failedCount: counted.failedCount - 1 + $0, lastAttempt: counted.lastAttempt)
        }
        ?? .afterSuccess
      try rows.store(row)
    }
  }

  /// Opens a domain after the device's passcode was right.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - passcode: What checks it.
  ///   - reason: Why, as the person will read it.
  ///   - conversation: Who asks the person.
  /// - Returns: The open domain.
  /// - Throws: ``VaultFailure``: `passcode`, `noSuchSlot` where it is not enabled.
  package func openWithPasscode(
    _ domain: String, of id: ContainerID, with passcode: any DevicePasscode, reason: String,
    conversation: any PasscodeConversation
  ) async throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let place = DomainPlace(vault: seal.vault, container: id, domain: domain)
    do {
      _ = try tables.read(id) { try $0.slot(domain, .devicePasscode) }
      try await passcode.verify(reason, conversation: conversation)
      return try openWithHardware(place, .devicePasscode, start)
    } catch { throw VaultFailure(error) }
  }

  private func add(
    _ opening: SlotHeader.Opening, derived: SharedSecretBox?, to unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let place = unlocked.place
    do {
      let header = SlotHeader(
        keystore: keystore.kind, opening: opening,
        salt: SystemRandomSource().bytes(SlotHeader.saltByteCount), place: place)
      let slot = try newSlot(
        unlocked.masterKey, header: header, derived: derived,
        hardwareSecret: .random(byteCount: ProtectionSlot.keyByteCount))
      try tables.change(place.container) { rows in
        // The container may have been deleted, or the domain erased, since it was opened.
        _ = try rows.slot(place.domain, .password)
        try rows.store(slot)
      }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }
}
