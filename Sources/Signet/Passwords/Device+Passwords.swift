public import SignetCrypto
import SignetPolicy
public import SignetVault

extension Device {
  /// Changes a container's password, all of it or nothing.
  ///
  /// A new one that breaks a rule is refused before anything is tried. The old one counts as any other attempt; then come the
  /// policy's minimum age and its history.
  /// Fingers, passcodes and recovery codes stay valid.
  ///
  /// - Parameters:
  ///   - container: Whose password.
  ///   - old: The present one: UTF-8 as typed.
  ///   - new: The next one: UTF-8 as typed.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `waiting`, `passwordTooYoung`, `passwordRefused`, `passwordUsedBefore`;
  ///   `passwordRequired` where the container has no password.
  public func changePassword(
    of container: Container, from old: SharedSecretBox, to new: SharedSecretBox
  ) async throws(SignetFailure) {
    let policy = try await checked(new, container)
    clearPasswordCache()
    try await vaulted(
      await vault.changePassword(
        of: VaultLayout.user, in: container.id, from: old.withSecret { $0.copy() },
        to: new.withSecret { $0.copy() }, policy: policy))
  }

  /// Makes a code that sets a new password when the present one is forgotten or locked; the code before it is void.
  ///
  /// Show it once, and have it printed: nothing can show it again. It works on this device only.
  ///
  /// - Parameters:
  ///   - container: What it is to open.
  ///   - password: UTF-8 as typed.
  /// - Returns: The code.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`.
  public func makeRecoveryCode(
    for container: Container, password: SharedSecretBox
  ) async throws(SignetFailure) -> RecoveryCode {
    let unlocked = try await unlock(container, by: .password(password))
    return try await vaulted(await vault.makeRecoveryCode(for: unlocked))
  }

  /// Sets a new password with the recovery code, which stays valid.
  ///
  /// - Parameters:
  ///   - container: Whose password.
  ///   - code: The code that was printed last.
  ///   - new: The next password: UTF-8 as typed.
  /// - Throws: ``SignetFailure``: above all `wrongRecoveryCode` and `passwordRefused`.
  public func resetPassword(
    of container: Container, with code: RecoveryCode, to new: SharedSecretBox
  ) async throws(SignetFailure) {
    let policy = try await checked(new, container)
    clearPasswordCache()
    try await vaulted(
      await vault.resetPassword(
        of: VaultLayout.user, in: container.id, with: code, to: new.withSecret { $0.copy() }, policy: policy))
  }

  /// The policy of a container, after a new password was checked with it, with the dictionary and with the app's own rules.
  private func checked(
    _ new: SharedSecretBox, _ container: Container
  ) async throws(SignetFailure) -> PasswordPolicy {
    guard let policy = container.profile.protection.passwordPolicy else { throw .passwordRequired }
    let violations: [PasswordViolation]
    do {
      violations = try await policy.violations(of: new, purpose: .change, checks: passwordChecks)
    } catch { throw .dictionary(error) }
    guard violations.isEmpty else { throw .passwordRefused(violations) }
    return policy
  }

  /// Refuses a password that its policy says is too old, until it is changed.
  ///
  /// A silent lock cannot tell whose password is changed, so under it none expires.
  func refuseExpiredPassword(of container: Container) async throws(SignetFailure) {
    let protection = container.profile.protection
    guard let age = protection.passwordPolicy?.age, age.maximumDays > 0, protection.lockPolicy != .silent
    else { return }
    let domains = try await vaulted(await vault.domains(of: container.id))
    guard let times = domains.first(where: { $0.name == VaultLayout.user && $0.slot == .password })?.password,
      let expiry = age.expiry(of: times.stamp)
    else { return }
    if times.now(clock.now) >= expiry { throw .passwordExpired }
  }
}
