import SignetCrypto
import SignetPolicy
import SignetSystem
import Synchronization

/// The state of biometric opening for a domain.
package enum BiometricAuthentication: Sendable, Hashable {
  /// A match opens the domain.
  case enabled
  /// The sensor is ready, but the user has not enabled biometrics for this domain.
  case notEnabled
  /// The device has no sensor, or no driver for it.
  case notCapable
  /// The user has not enrolled a finger or face.
  case notEnrolled
  /// A finger or face was enrolled or removed after biometrics were enabled; the user must enable them again.
  case invalidated
}

extension Vault {
  /// Returns the state of biometric opening for a domain.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - gate: The biometric sensor.
  /// - Returns: The state.
  /// - Throws: ``VaultFailure``; `biometric` if the sensor cannot be queried.
  package func biometricAuthentication(
    of domain: String, in id: LocalContainerID, with gate: any BiometricGate
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

  /// Enables opening a domain with a biometric match until a finger or face is enrolled or removed.
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

  /// Enables opening a domain with the device's passcode.
  ///
  /// - Parameter unlocked: The domain, opened with its password.
  /// - Throws: ``VaultFailure``: `passwordNeeded`, `silentDomain`.
  package func enablePasscode(for unlocked: borrowing UnlockedDomain) throws(VaultFailure) {
    guard unlocked.openedBy == .password else { throw .passwordNeeded(domain: unlocked.name) }
    try add(.devicePasscode, derived: nil, to: unlocked)
  }

  /// Makes a code that opens a domain when its password is forgotten; the previous code becomes invalid.
  ///
  /// - Parameter unlocked: The domain, opened with its password or the previous code.
  /// - Returns: The code, which cannot be shown again.
  /// - Throws: ``VaultFailure``: `passwordNeeded`, `silentDomain`.
  package func makeRecoveryCode(for unlocked: borrowing UnlockedDomain) throws(VaultFailure) -> RecoveryCode {
    guard unlocked.openedBy == .password || unlocked.openedBy == .recovery else {
      throw .passwordNeeded(domain: unlocked.name)
    }
    let code = RecoveryCode()
    try add(.recovery, derived: code.secret, to: unlocked)
    return code
  }

  /// Removes a slot that was added to a domain's password slot; does nothing if there is none.
  ///
  /// - Parameters:
  ///   - kind: The slot's kind, other than `password` and `device`.
  ///   - domain: The name of the domain.
  ///   - id: The container.
  /// - Throws: ``VaultFailure``: `noSuchSlot` for a kind that cannot be removed.
  package func removeSlot(_ kind: SlotKind, of domain: String, in id: LocalContainerID) throws(VaultFailure) {
    guard kind != .password && kind != .device else { throw .noSuchSlot(domain: domain, kind) }
    do {
      try tables.change(id) { try $0.removeSlot(domain, kind) }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }

  /// The lock status of a slot, for display.
  func status(of row: SlotRow, at now: BootInstant) -> LockStatus {
    let header = row.slot.header
    if header.kind == .biometric, row.attempts.failedCount >= Self.biometricLimit { return .lockedOut }
    return header.lockPolicy.status(after: row.attempts, at: now)
  }

  /// The number of consecutive mismatches after which matching stops until the password is verified.
  package static let biometricLimit = 5

  /// Opens a domain after a biometric match.
  ///
  /// When the sensor reports a mismatch, the vault counts it on the disk before the sensor is used again. A match or the
  /// right password resets the count. Waiting for a finger counts nothing, however it ends. After ``biometricLimit``
  /// mismatches, in any processes, the vault cancels the match; a match that arrives later opens nothing.
  ///
  /// The vault compares the set enrolled during the match with the set that the slot is bound to. The hardware then opens
  /// the slot without further input. A matcher answers only yes or no, so only the vault's code enforces the match.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - gate: The biometric sensor.
  ///   - reason: The reason shown to the user.
  ///   - hints: Receives hints to show during the match.
  /// - Returns: The open domain.
  /// - Throws: ``VaultFailure``: `biometric`, `biometricsInvalidated`, `noSuchSlot` if biometrics are not enabled; the
  ///   failure that prevented counting a mismatch.
  package func openWithBiometrics(
    _ domain: String, of id: LocalContainerID, with gate: any BiometricGate, reason: String,
    hints: @escaping @Sendable (BiometricHint) -> Void = { _ in }
  ) async throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let domainID = DomainID(vault: seal.vault, container: id, domain: domain)
    do {
      let before = try tables.read(id) { try $0.slot(domain, .biometric) }
      guard before.attempts.failedCount < Self.biometricLimit else { throw BiometricFailure.lockedOut }
      if case .ready(let set) = try await gate.state(),
        !before.slot.header.opening.accepts(set)
      {
        throw VaultFailure.biometricsInvalidated  // no touch of the sensor needed
      }
      // Only the vault's count decides: the gate's own count ends with its process and covers all containers.
      await gate.endLockout()
      try confirmMatch(domainID, of: await match(domainID, with: gate, reason: reason, hints: hints))
      return try openWithHardware(domainID, .biometric, start)
    } catch { throw VaultFailure(error) }
  }

  /// Runs a match and counts the mismatches that the gate reports.
  private func match(
    _ domainID: DomainID, with gate: any BiometricGate, reason: String,
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
                let mayContinue = mismatches.record(isLast: remaining == 0) {
                  try self.countReported(domainID)
                }
                if !mayContinue { stopping.finish() }
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
    if case .failure(.mismatch) = result, !mismatches.isLastCounted { _ = try countMismatch(domainID) }
    return try result.get()
  }

  /// Counts a mismatch from a thread of the gate, which waits for the result.
  private nonisolated func countReported(_ domainID: DomainID) throws -> Bool {
    try executor.wait { Result { try self.assumeIsolated { try $0.countMismatch(domainID) } } }.get()
  }

  /// Counts a mismatch on the disk and, if the hardware counts, in the hardware.
  ///
  /// One transaction reads and writes the count. So only one process counts at a time, and each count has a reported mismatch.
  ///
  /// - Returns: True if another match may be made.
  private func countMismatch(_ domainID: DomainID) throws -> Bool {
    let now = moment.boot
    return try tables.change(domainID.container) { rows in
      var row = try rows.slot(domainID.domain, .biometric)
      guard row.attempts.failedCount < Self.biometricLimit else { return false }
      row.attempts = row.attempts.countingAttempt(at: now)
      try rows.store(row)
      return row.attempts.failedCount < Self.biometricLimit
    }
  }

  /// Resets the mismatch count after a match, unless the limit is reached or the slot is bound to another set.
  ///
  /// It also writes if the count is zero: if the disk cannot record a mismatch, a finger must not open the domain.
  private func confirmMatch(_ domainID: DomainID, of matched: EnrolledSet) throws {
    try tables.change(domainID.container) { rows in
      var row = try rows.slot(domainID.domain, .biometric)
      guard row.slot.header.opening.accepts(matched) else { throw VaultFailure.biometricsInvalidated }
      guard row.attempts.failedCount < Self.biometricLimit else { throw BiometricFailure.lockedOut }
      row.attempts = .afterSuccess
      try rows.store(row)
    }
  }

  /// Opens a domain after the device's passcode was verified.
  ///
  /// - Parameters:
  ///   - domain: The name of the domain.
  ///   - id: The container.
  ///   - passcode: Verifies the passcode.
  ///   - reason: The reason shown to the user.
  ///   - conversation: Prompts the user.
  /// - Returns: The open domain.
  /// - Throws: ``VaultFailure``: `passcode`, `noSuchSlot` if the passcode is not enabled.
  package func openWithPasscode(
    _ domain: String, of id: LocalContainerID, with passcode: any DevicePasscode, reason: String,
    conversation: any PasscodeConversation
  ) async throws(VaultFailure) -> UnlockedDomain {
    let start = ContinuousClock.now
    let domainID = DomainID(vault: seal.vault, container: id, domain: domain)
    do {
      _ = try tables.read(id) { try $0.slot(domain, .devicePasscode) }
      try await passcode.verify(reason, conversation: conversation)
      return try openWithHardware(domainID, .devicePasscode, start)
    } catch { throw VaultFailure(error) }
  }

  private func add(
    _ opening: SlotHeader.Opening, derived: SharedSecretBox?, to unlocked: borrowing UnlockedDomain
  ) throws(VaultFailure) {
    guard !unlocked.isSilent else { throw .silentDomain(unlocked.name) }
    let domainID = unlocked.domainID
    do {
      let header = SlotHeader(
        keystore: keystore.kind, opening: opening,
        salt: SystemRandomSource().bytes(SlotHeader.saltByteCount), domainID: domainID)
      let slot = try newSlot(
        unlocked.masterKey, header: header, derived: derived,
        hardwareSecret: .random(byteCount: ProtectionSlot.keyByteCount))
      try tables.change(domainID.container) { rows in
        // The container may have been deleted, or the domain erased, since it was opened.
        _ = try rows.slot(domainID.domain, .password)
        try rows.store(slot)
      }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }
}

/// The mismatches that a gate reported during one match.
private final class MismatchReports: Sendable {
  private struct State: Sendable {
    var isLastCounted = false
    var failure: VaultFailure?
  }

  private let state = Mutex(State())

  /// True if the mismatch that ended the match was counted.
  var isLastCounted: Bool { state.withLock(\.isLastCounted) }
  /// The reason why matching must stop, even if the gate would allow more.
  var failure: VaultFailure? { state.withLock(\.failure) }

  /// Counts a mismatch and returns true if the match may continue.
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
