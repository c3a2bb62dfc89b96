import SignetCrypto
import SignetPolicy
import SignetSQLite

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
    let place = DomainPlace(vault: seal.vault, container: id, domain: domain)
    do {
      let enrolled: EnrolledSet
      switch try await gate.state() {
      case .notCapable: return .notCapable
      case .notEnrolled: return .notEnrolled
      case .ready(let set): enrolled = set
      }
      let row: SlotRow
      do { row = try database.transaction(.deferred) { try find(place, .biometric) } } catch VaultFailure
        .noSuchSlot
      { return .notEnabled }
      return row.slot.header.opening == .biometric(enrolledSet: enrolled.digest) ? .enabled : .invalidated
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
    let place = DomainPlace(vault: seal.vault, container: id, domain: domain)
    do {
      try change {
        do { try find(place, kind).delete(from: database) } catch VaultFailure.noSuchSlot {}
      }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }

  /// Opens a domain after a biometric match.
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
      let before = try database.transaction(.deferred) { try find(place, .biometric) }
      if case .ready(let set) = try await gate.state(),
        before.slot.header.opening != .biometric(enrolledSet: set.digest)
      {
        throw VaultFailure.biometricsInvalidated  // nobody need touch the sensor for that
      }
      let matched = try await gate.match(reason, hints: hints)
      let slot = try database.transaction(.deferred) { try find(place, .biometric) }.slot
      guard slot.header.opening == .biometric(enrolledSet: matched.digest) else {
        throw VaultFailure.biometricsInvalidated
      }
      return try openWithHardware(place, .biometric, start)
    } catch { throw VaultFailure(error) }
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
      _ = try database.transaction(.deferred) { try find(place, .devicePasscode) }
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
      let slot = try ProtectionSlot.wrapping(
        unlocked.masterKey, header: header, derived: derived,
        hardwareSecret: .random(byteCount: ProtectionSlot.keyByteCount), keystore: keystore)
      try change {
        // The container may have been deleted, or the domain erased, since it was opened.
        _ = try find(place, .password)
        try SlotRow(slot: slot).store(in: database, seal)
      }
      forgetReplaced()
    } catch { throw VaultFailure(error) }
  }
}
