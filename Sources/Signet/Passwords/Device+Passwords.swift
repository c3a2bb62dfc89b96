public import SignetCrypto
import SignetPolicy
public import SignetVault

/// The outcome of a password change; in each case the new password is valid and the old one is not.
@nonexhaustive public enum PasswordChangeOutcome: Sendable, Hashable {
  /// An older copy of the data folder cannot restore the old password, as far as the hardware detects a rollback.
  case done
  /// The hardware counter could not be incremented.
  ///
  /// Until the next counted change on this device, an older copy of the data folder would open with the old password.
  case uncounted(SignetError)

  init(_ failure: VaultFailure?) {
    self = failure.map { .uncounted(SignetError($0)) } ?? .done
  }
}

extension Device {
  /// Changes the password of a container or of one of its keys, completely or not at all.
  ///
  /// A new password that violates a rule is rejected before the old one is tried. The old one counts as an attempt; then
  /// the policy's minimum age and history are checked. Biometrics, the device passcode and recovery codes stay valid.
  ///
  /// The password of a locked container cannot be changed, unless it has expired: an expired password could not open the
  /// container to unlock it.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key with the password; `nil` for the container's own.
  ///   - old: The current password: UTF-8 as typed.
  ///   - new: The new password: UTF-8 as typed.
  /// - Returns: The outcome, which tells if the hardware counter has recorded the change.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `waiting`, `passwordTooYoung`, `passwordRefused`,
  ///   `passwordUsedBefore`, `accountLocked`; `passwordRequired` if there is no password.
  @discardableResult
  public func changePassword(
    of container: Container, key: Key.Usage? = nil, from old: SharedSecretBox, to new: SharedSecretBox
  ) async throws(SignetError) -> PasswordChangeOutcome {
    if try await !isPasswordExpired(of: container, key: key) { try await requireUnlocked(container) }
    return try await container.naming(key) { () async throws(SignetError) in
      let policy = try await checked(new, container, key)
      clearPasswordCache()
      return PasswordChangeOutcome(
        try await vaulted(
          await vault.changePassword(
            of: container.domain(of: key), in: container.id, from: old.withSecret { $0.copy() },
            to: new.withSecret { $0.copy() }, policy: policy)))
    }
  }

  /// Returns the time from which a password may be changed under its policy's minimum age, in seconds since 1970.
  ///
  /// Call it before the user types a new password. ``changePassword(of:key:from:to:)`` checks the age in any case, but
  /// after an attempt with the current password.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key with the password; `nil` for the container's own.
  /// - Returns: The time; `nil` if it may be changed now.
  /// - Throws: ``SignetError``.
  public func earliestPasswordChange(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) -> Int64? {
    let protection = container.protection(of: key)
    guard let age = protection.passwordPolicy?.age, protection.lockPolicy != .silent,
      let times = try await passwordTimes(of: container, key)
    else { return nil }
    let earliest = age.earliestChange(of: times.stamp)
    return times.now(clock.now) >= earliest ? nil : earliest
  }

  /// Creates a recovery code, which sets a new password if the current one is forgotten or locked; it revokes the previous code.
  ///
  /// Show it once and let the user print it, because it cannot be shown again. If hardware keeps the keys
  /// (``keystoreKind``), the code works on this device only; otherwise it works with any copy of the device's files.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key that the code opens; `nil` for the container itself.
  ///   - password: UTF-8 as typed.
  /// - Returns: The code.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `accountLocked`.
  public func makeRecoveryCode(
    for container: Container, key: Key.Usage? = nil, password: SharedSecretBox
  ) async throws(SignetError) -> RecoveryCode {
    try await requireUnlocked(container)
    let unlocked = try await unlock(container, key: key, by: .password(password))
    return try await vaulted(await vault.makeRecoveryCode(for: unlocked))
  }

  /// Returns whether there is a recovery code for a container or one of its keys.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Returns: True if there is one.
  /// - Throws: ``SignetError``.
  public func hasRecoveryCode(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) -> Bool {
    let domain = container.domain(of: key)
    return try await vaulted(await vault.domains(of: container.id))
      .contains { $0.name == domain && $0.slot == .recovery }
  }

  /// Verifies the current password before a new one is chosen; it may have expired, and a wrong one counts as an attempt.
  ///
  /// Under a silent lock policy a wrong password is not detected.
  ///
  /// - Parameters:
  ///   - password: The current password: UTF-8 as typed.
  ///   - container: The container.
  ///   - key: The key with the password; `nil` for the container's own.
  /// - Throws: ``SignetError``, in particular `wrongPassword` and `waiting`.
  package func tryPresentPassword(
    _ password: SharedSecretBox, of container: Container, key: Key.Usage?
  ) async throws(SignetError) {
    try await requireIntegrity()
    try await container.naming(key) { () async throws(SignetError) in
      _ = try await vaulted(
        await vault.open(
          container.domain(of: key), of: container.id, with: .password(password.withSecret { $0.copy() })))
    }
  }

  /// Sets a new password with the recovery code, which stays valid.
  ///
  /// A locked container can be reset too and stays locked, because a user who has forgotten the password could never unlock it.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key with the password; `nil` for the container's own.
  ///   - code: The latest recovery code.
  ///   - new: The new password: UTF-8 as typed.
  /// - Returns: The outcome, which tells if the hardware counter has recorded the change.
  /// - Throws: ``SignetError``, in particular `wrongRecoveryCode` and `passwordRefused`.
  @discardableResult
  public func resetPassword(
    of container: Container, key: Key.Usage? = nil, with code: RecoveryCode, to new: SharedSecretBox
  ) async throws(SignetError) -> PasswordChangeOutcome {
    try await container.naming(key) { () async throws(SignetError) in
      let policy = try await checked(new, container, key)
      clearPasswordCache()
      return PasswordChangeOutcome(
        try await vaulted(
          await vault.resetPassword(
            of: container.domain(of: key), in: container.id, with: code, to: new.withSecret { $0.copy() },
            policy: policy)))
    }
  }

  /// Validates a new password with the policy, the dictionary and the app's own rules, and returns the policy.
  private func checked(
    _ new: SharedSecretBox, _ container: Container, _ key: Key.Usage?
  ) async throws(SignetError) -> PasswordPolicy {
    try await requireIntegrity()
    guard let policy = container.protection(of: key).passwordPolicy else { throw .passwordRequired }
    let violations = try await policy.violations(of: new, purpose: .change, checks: passwordChecks)
    guard violations.isEmpty else { throw .passwordRefused(violations) }
    return policy
  }

  /// Rejects an expired password until it is changed.
  ///
  /// Under a silent lock policy passwords do not expire, because a wrong password could not be told from the right one at the change.
  func refuseExpiredPassword(of container: Container, _ key: Key.Usage?) async throws(SignetError) {
    let protection = container.protection(of: key)
    guard let age = protection.passwordPolicy?.age, age.maximumDays > 0, protection.lockPolicy != .silent
    else { return }
    guard let times = try await passwordTimes(of: container, key), let expiry = age.expiry(of: times.stamp)
    else { return }
    if times.now(clock.now) >= expiry { throw .passwordExpired }
  }

  /// Returns the times of a password; `nil` if there is no password or its times are unknown.
  func passwordTimes(
    of container: Container, _ key: Key.Usage?
  ) async throws(SignetError) -> PasswordTimes? {
    let domain = container.domain(of: key)
    return try await vaulted(await vault.domains(of: container.id))
      .first { $0.name == domain && $0.slot == .password }?.password
  }
}
