import SignetConcurrency
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
  /// A mismatch is counted on the disk when the sensor reports it, and before the sensor is asked again; a match takes the count
  /// back, and so does the right password. Waiting for a finger counts nothing, however it ends. After ``biometricLimit``
  /// mismatches, in whatever processes, the match is called off, and one that comes all the same opens nothing.
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
  /// - Throws: ``VaultFailure``: `biometric`, `biometricsInvalidated`, `noSuchSlot` where it is not enabled; what keeps a mismatch
  ///   from being counted.
  package func openWithBiometrics(
    _ domain: String, of id: ContainerID, with gate: any BiometricGate, reason: String,
    hints: @escaping @Sendable (BiometricHint) -> Void = { _ in }
  ) async throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let place = DomainPlace(vault: seal.vault, container: id, domain: domain)
    do {
      let before = try tables.read(id) { try $0.slot(domain, .biometric) }
      guard before.attempts.failedCount < Self.biometricLimit else { throw BiometricFailure.lockedOut }
      if case .ready(let set) = try await gate.state(),
        !before.slot.header.opening.accepts(set)
      {
        throw VaultFailure.biometricsInvalidated  // nobody need touch the sensor for that
      }
      // The vault's count is what counts: the gate's own ends with its process, and is of all containers.
      await gate.endLockout()
      try confirmMatch(place, of: await match(place, with: gate, reason: reason, hints: hints))
      return try openWithHardware(place, .biometric, start)
    } catch { throw VaultFailure(error) }
  }

  /// Has a gate match, and counts what it reports.
  private func match(
    _ place: DomainPlace, with gate: any BiometricGate, reason: String,
    hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws -> EnrolledSet {
    let mismatches = MismatchReports()
    let (stop, stopping) = AsyncStream<Never>.makeStream()
    let result = await withTaskGroup(of: Result<EnrolledSet, BiometricFailure>?.self) { group in
      group.addTask {
        do throws(BiometricFailure) {
          return .success(
            try await gate.match(reason) { hint in
              if case .notRecognised(let remaining) = hint {
                let mayGoOn = mismatches.record(isLast: remaining == 0) { try self.countReported(place) }
                if !mayGoOn { stopping.finish() }
              }
              hints(hint)
            })
        } catch { return .failure(error) }
      }
      group.addTask {
        for await _ in stop {}
        return nil
      }
      var result: Result<EnrolledSet, BiometricFailure>?
      for await ended in group {
        group.cancelAll()
        if let ended { result = ended }
      }
      return result
    }
    if let failure = mismatches.failure { throw failure }
    guard let result else { throw BiometricFailure.cancelled }
    if case .failure(.mismatch) = result, !mismatches.isLastCounted { _ = try countMismatch(place) }
    return try result.get()
  }

  /// Counts a mismatch from a thread of the gate, which waits for it.
  private nonisolated func countReported(_ place: DomainPlace) throws -> Bool {
    try executor.wait { Result { try self.assumeIsolated { try $0.countMismatch(place) } } }.get()
  }

  /// Counts a mismatch that was made, on the disk, and where the hardware counts, in it.
  ///
  /// One transaction reads and writes the count, so one process at a time counts, and no count is without a result.
  ///
  /// - Returns: Whether another match may be made.
  private func countMismatch(_ place: DomainPlace) throws -> Bool {
    let now = moment.boot
    return try tables.change(place.container) { rows in
      var row = try rows.slot(place.domain, .biometric)
      guard row.attempts.failedCount < Self.biometricLimit else { return false }
      row.attempts = row.attempts.countingAttempt(at: now)
      try rows.store(row)
      return row.attempts.failedCount < Self.biometricLimit
    }
  }

  /// Takes the mismatches back after a match, unless there are too many by now, or the slot is for another set.
  ///
  /// It writes where there are none as well: a disk on which no mismatch can be counted lets no finger open.
  private func confirmMatch(_ place: DomainPlace, of matched: EnrolledSet) throws {
    try tables.change(place.container) { rows in
      var row = try rows.slot(place.domain, .biometric)
      guard row.slot.header.opening.accepts(matched) else { throw VaultFailure.biometricsInvalidated }
      guard row.attempts.failedCount < Self.biometricLimit else { throw BiometricFailure.lockedOut }
      row.attempts = .afterSuccess
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

/// What has become of the mismatches that a gate has reported in one match.
private final class MismatchReports: Sendable {
  private struct State: Sendable {
    var isLastCounted = false
    var failure: VaultFailure?
  }

  private let state = Mutex(State())

  /// Whether the mismatch with which the match ended was counted.
  var isLastCounted: Bool { state.withLock(\.isLastCounted) }
  /// Why no more fingers may be tried, whatever the gate says.
  var failure: VaultFailure? { state.withLock(\.failure) }

  /// Counts one; whether the match may go on.
  func record(isLast: Bool, _ count: () throws -> Bool) -> Bool {
    let failure: VaultFailure?
    do { failure = try count() ? nil : .biometric(.lockedOut) } catch { failure = VaultFailure(error) }
    return state.withLock { state in
      if isLast { state.isLastCounted = true }
      if state.failure == nil { state.failure = failure }
      return state.failure == nil
    }
  }
}
