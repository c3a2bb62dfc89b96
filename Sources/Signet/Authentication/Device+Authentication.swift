import SignetCrypto
public import SignetPolicy
import SignetVault

extension Device {
  /// The protection that is in force for a container on this device, now.
  ///
  /// What the server wants is `container.profile.protection`. On a device that cannot match, *biometric or password* comes down
  /// to *password*, and *device lock or password* on one that cannot check its passcode.
  public func protectionInForce(for container: Container) async -> ProtectionPolicy {
    await inForce(container.profile.protection)
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

  /// Opens what the container's protection policy protects.
  ///
  /// - Parameters:
  ///   - container: Whose secrets.
  ///   - authentication: How the user shows who they are; `nil` where the device alone protects.
  /// - Returns: The open domain; letting go of it locks it.
  /// - Throws: ``SignetFailure``.
  func unlock(
    _ container: Container, by authentication: Authentication?
  ) async throws(SignetFailure) -> UnlockedDomain {
    let (domain, id) = (VaultLayout.user, container.id)
    if case .device = await protectionInForce(for: container) {
      return try await vaulted(await vault.open(domain, of: id, with: .device))
    }
    guard let authentication else { throw .passwordRequired }
    try await refuseExpiredPassword(of: container)
    switch authentication {
    case .password(let password):
      let unlocked = try await vaulted(
        await vault.open(domain, of: id, with: .password(password.withSecret { $0.copy() })))
      // Whoever knows the password may try fingers again; a silent lock does not tell who does.
      if !unlocked.isSilent { await biometrics?.endLockout() }
      return unlocked
    case .biometrics(let reason, let hints):
      let gate = try await biometricGate(for: container)
      return try await vaulted(
        await vault.openWithBiometrics(domain, of: id, with: gate, reason: reason, hints: hints))
    case .passcode(let reason, let conversation):
      let passcode = try await devicePasscode(for: container)
      return try await vaulted(
        await vault.openWithPasscode(
          domain, of: id, with: passcode, reason: reason, conversation: conversation))
    }
  }

  /// The gate that may open a container, by the policy that is in force.
  func biometricGate(for container: Container) async throws(SignetFailure) -> any BiometricGate {
    guard container.offersBiometrics else { throw .wayNotOffered(.biometric) }
    guard let biometrics, case .biometricOrPassword = await protectionInForce(for: container) else {
      throw .biometrics(.notCapable)
    }
    return biometrics
  }

  /// What checks the passcode that may open a container, by the policy that is in force.
  func devicePasscode(for container: Container) async throws(SignetFailure) -> any DevicePasscode {
    guard container.offersPasscode else { throw .wayNotOffered(.devicePasscode) }
    guard let passcode, case .deviceLockOrPassword = await protectionInForce(for: container) else {
      throw .passcode(.notCapable)
    }
    return passcode
  }
}

extension Container {
  /// Whether its policy lets a biometric match open it; under a silent lock nothing but the password does.
  var offersBiometrics: Bool {
    guard case .biometricOrPassword(_, let lock) = profile.protection else { return false }
    return lock != .silent
  }

  /// Whether its policy lets the device's passcode open it; under a silent lock nothing but the password does.
  var offersPasscode: Bool {
    guard case .deviceLockOrPassword(_, let lock) = profile.protection else { return false }
    return lock != .silent
  }
}
