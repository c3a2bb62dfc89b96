import SignetCrypto
public import SignetPolicy
import SignetVault

extension Device {
  /// The protection that is in force for a container or one of its keys on this device, now.
  ///
  /// What the server wants is `container.protection(of: key)`. On a device that cannot match, *biometric or password* comes down
  /// to *password*, and *device lock or password* on one that cannot check its passcode.
  ///
  /// - Parameters:
  ///   - container: Which container.
  ///   - key: Which of its keys; `nil` for the container itself.
  /// - Returns: What opens it.
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

  /// What this device can do of what a policy asks for; other gates are left in peace.
  private func abilities(for policy: ProtectionPolicy) async -> DeviceAbilities {
    var abilities = DeviceAbilities(matchesBiometrics: false, checksPasscode: false)
    if case .biometricOrPassword = policy, let biometrics {
      // A sensor that cannot be asked at the moment is there all the same.
      do throws(BiometricFailure) {
        abilities.matchesBiometrics = try await biometrics.state() != .notCapable
      } catch { abilities.matchesBiometrics = error != .notCapable }
    }
    if case .deviceLockOrPassword = policy, let passcode {
      abilities.checksPasscode = await passcode.state() == .ready
    }
    return abilities
  }

  /// Opens what the protection policy of a container, or of one of its keys, protects.
  ///
  /// - Parameters:
  ///   - container: Whose secrets.
  ///   - key: The key that is needed; `nil` for what the container's own policy protects.
  ///   - authentication: How the user shows who they are; `nil` where the device alone protects.
  ///   - isExpiredTaken: Whether a password that has to be changed opens it all the same.
  ///   - isGuarded: Whether tampering refuses it. What the session key alone does it never refuses: to list, deny, report and remove.
  /// - Returns: The open domain; letting go of it locks it.
  /// - Throws: ``SignetFailure``; about a key with a protection of its own, `key`.
  func unlock(
    _ container: Container, key: Key.Usage? = nil, by authentication: Authentication?,
    evenIfExpired isExpiredTaken: Bool = false, isGuarded: Bool = true
  ) async throws(SignetFailure) -> UnlockedDomain {
    // First: in a program that is tampered with, nobody's password is used.
    if isGuarded, key != .sessionTransport { try await requireIntegrity() }
    return try await container.naming(key) { () async throws(SignetFailure) -> UnlockedDomain in
      try await open(container, key, authentication, isExpiredTaken)
    }
  }

  private func open(
    _ container: Container, _ key: Key.Usage?, _ authentication: Authentication?, _ isExpiredTaken: Bool
  ) async throws(SignetFailure) -> UnlockedDomain {
    let (domain, id) = (container.domain(of: key), container.id)
    if case .device = await protectionInForce(for: container, key: key) {
      return try await vaulted(await vault.open(domain, of: id, with: .device))
    }
    guard let authentication else { throw .passwordRequired }
    if !isExpiredTaken { try await refuseExpiredPassword(of: container, key) }
    switch authentication {
    case .password(let password):
      let unlocked = try await vaulted(
        await vault.open(domain, of: id, with: .password(password.withSecret { $0.copy() })))
      // Whoever knows the password may try fingers again; a silent lock does not tell who does.
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

  /// The gate that may open a container or a key, by the policy that is in force.
  func biometricGate(
    for container: Container, _ key: Key.Usage?
  ) async throws(SignetFailure) -> any BiometricGate {
    guard container.offersBiometrics(for: key) else { throw .wayNotOffered(.biometrics) }
    guard let biometrics, case .biometricOrPassword = await protectionInForce(for: container, key: key) else {
      throw .biometrics(.notCapable)
    }
    return biometrics
  }

  /// What checks the passcode that may open a container or a key, by the policy that is in force.
  func devicePasscode(
    for container: Container, _ key: Key.Usage?
  ) async throws(SignetFailure) -> any DevicePasscode {
    guard container.offersPasscode(for: key) else { throw .wayNotOffered(.passcode) }
    guard let passcode, case .deviceLockOrPassword = await protectionInForce(for: container, key: key) else {
      throw .passcode(.notCapable)
    }
    return passcode
  }
}

extension Container {
  /// Whether its policy, or that of a key, lets a biometric match open it; under a silent lock nothing but the password does.
  func offersBiometrics(for key: Key.Usage?) -> Bool {
    guard case .biometricOrPassword(_, let lock) = protection(of: key) else { return false }
    return lock != .silent
  }

  /// Whether its policy, or that of a key, lets the device's passcode open it; under a silent lock nothing but the password does.
  func offersPasscode(for key: Key.Usage?) -> Bool {
    guard case .deviceLockOrPassword(_, let lock) = protection(of: key) else { return false }
    return lock != .silent
  }
}
