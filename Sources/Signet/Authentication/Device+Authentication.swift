import SignetCrypto
public import SignetPolicy
import SignetVault

extension Device {
  /// Returns the protection in force for a container or one of its keys on this device.
  ///
  /// The server's policy is `container.protection(of: key)`. Without biometrics on this device, *biometric or password*
  /// reduces to *password*. Without a check of the passcode, so does *device lock or password*.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Returns: The protection in force.
  public func protectionInForce(
    for container: Container, key: Key.Usage? = nil
  ) async -> ProtectionPolicy {
    await inForce(container.protection(of: key))
  }

  func inForce(_ policy: ProtectionPolicy) async -> ProtectionPolicy {
    switch policy {
    case .biometricOrPassword, .deviceLockOrPassword: policy.inForce(on: await abilities(for: policy))
    default: policy
    }
  }

  /// Returns the abilities of this device that a policy asks for; only the gate in question is queried.
  private func abilities(for policy: ProtectionPolicy) async -> DeviceAbilities {
    var abilities = DeviceAbilities(matchesBiometrics: false, checksPasscode: false)
    if case .biometricOrPassword = policy, let biometrics {
      // A sensor that is temporarily unavailable still counts as present.
      do throws(BiometricFailure) {
        abilities.matchesBiometrics = try await biometrics.state() != .notCapable
      } catch { abilities.matchesBiometrics = error != .notCapable }
    }
    if case .deviceLockOrPassword = policy, let passcode {
      abilities.checksPasscode = await passcode.state() == .ready
    }
    return abilities
  }

  /// Opens the domain that the protection policy of a container or one of its keys protects.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The required key; `nil` for the domain of the container's own policy.
  ///   - authentication: The credential; `nil` if the device protects it alone.
  ///   - acceptsExpired: True to accept an expired password.
  ///   - isGuarded: True to fail on tampering. Operations of the session key never fail on tampering: to list, deny, report and remove.
  /// - Returns: The open domain; releasing it locks it.
  /// - Throws: ``SignetError``; for a key with a separate protection, `key`.
  func unlock(
    _ container: Container, key: Key.Usage? = nil, by authentication: Authentication?,
    evenIfExpired acceptsExpired: Bool = false, isGuarded: Bool = true
  ) async throws(SignetError) -> UnlockedDomain {
    // Checked first, so that a program under attack never uses the user's password.
    if isGuarded, key != .sessionTransport { try await requireIntegrity() }
    return try await container.naming(key) { () async throws(SignetError) -> UnlockedDomain in
      try await open(container, key, authentication, acceptsExpired)
    }
  }

  private func open(
    _ container: Container, _ key: Key.Usage?, _ authentication: Authentication?, _ acceptsExpired: Bool
  ) async throws(SignetError) -> UnlockedDomain {
    let (domain, id) = (container.domain(of: key), container.id)
    if case .device = await protectionInForce(for: container, key: key) {
      return try await vaulted(await vault.open(domain, of: id, with: .device))
    }
    guard let authentication else { throw .passwordRequired }
    if !acceptsExpired { try await refuseExpiredPassword(of: container, key) }
    switch authentication {
    case .password(let password):
      let unlocked = try await vaulted(
        await vault.open(domain, of: id, with: .password(password.withSecret { $0.copy() })))
      // A right password ends the lockout of fingerprints. Under a silent lock policy a right password cannot be recognized.
      if !unlocked.isSilent { await biometrics?.endLockout() }
      return unlocked
    case .biometrics(let reason, let hints):
      let gate = try await biometricGate(for: container, key)
      return try await vaulted(
        await vault.openWithBiometrics(domain, of: id, with: gate, reason: reason, hints: hints))
    case .passcode(let reason, let conversation):
      let passcode = try await devicePasscode(for: container, key)
      return try await vaulted(
        await vault.openWithPasscode(
          domain, of: id, with: passcode, reason: reason, conversation: conversation))
    }
  }

  /// Returns the biometric gate if the protection in force allows it for a container or key.
  func biometricGate(
    for container: Container, _ key: Key.Usage?
  ) async throws(SignetError) -> any BiometricGate {
    guard container.offersBiometrics(for: key) else { throw .unlockMethodNotOffered(.biometrics) }
    guard let biometrics, case .biometricOrPassword = await protectionInForce(for: container, key: key) else {
      throw .biometrics(.notCapable)
    }
    return biometrics
  }

  /// Returns the passcode gate if the protection in force allows it for a container or key.
  func devicePasscode(
    for container: Container, _ key: Key.Usage?
  ) async throws(SignetError) -> any DevicePasscode {
    guard container.offersPasscode(for: key) else { throw .unlockMethodNotOffered(.passcode) }
    guard let passcode, case .deviceLockOrPassword = await protectionInForce(for: container, key: key) else {
      throw .passcode(.notCapable)
    }
    return passcode
  }
}

extension Container {
  /// Indicates whether the policy of the container or key allows biometrics; under a silent lock policy only the password opens it.
  func offersBiometrics(for key: Key.Usage?) -> Bool {
    guard case .biometricOrPassword(_, let lock) = protection(of: key) else { return false }
    return lock != .silent
  }

  /// Indicates whether the policy of the container or key allows the device passcode; under a silent lock policy only the
  /// password opens it.
  func offersPasscode(for key: Key.Usage?) -> Bool {
    guard case .deviceLockOrPassword(_, let lock) = protection(of: key) else { return false }
    return lock != .silent
  }
}
