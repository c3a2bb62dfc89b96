public import SignetCrypto
import SignetPolicy
public import SignetVault

extension Device {
  /// Changes the password of a container or of one of its keys, all of it or nothing.
  ///
  /// A new one that breaks a rule is refused before anything is tried. The old one counts as any other attempt; then come the
  /// policy's minimum age and its history.
  /// Fingers, passcodes and recovery codes stay valid.
  ///
  /// A locked container keeps its password, unless that has expired: then nothing that could end the lock would open either.
  ///
  /// - Parameters:
  ///   - container: Whose password.
  ///   - key: The key that has it; `nil` for the container's own.
  ///   - old: The present one: UTF-8 as typed.
  ///   - new: The next one: UTF-8 as typed.
  /// - Returns: Whether the hardware has counted the change.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `waiting`, `passwordTooYoung`, `passwordRefused`, `passwordUsedBefore`,
  ///   `accountLocked`; `passwordRequired` where there is no password.
  @discardableResult
  public func changePassword(
    of container: Container, key: Key.Usage? = nil, from old: SharedSecretBox, to new: SharedSecretBox
  ) async throws(SignetFailure) -> PasswordChangeOutcome {
    if try await !isPasswordExpired(of: container, key: key) { try await requireUnlocked(container) }
    return try await container.naming(key) { () async throws(SignetFailure) in
      let policy = try await checked(new, container, key)
      clearPasswordCache()
      return PasswordChangeOutcome(
        try await vaulted(
          await vault.changePassword(
            of: container.domain(of: key), in: container.id, from: old.withSecret { $0.copy() },
            to: new.withSecret { $0.copy() }, policy: policy)))
    }
  }

  /// From when on a password may be changed, by its policy's minimum age, in seconds since 1970.
  ///
  /// Ask before a new one is typed; ``changePassword(of:key:from:to:)`` asks in any case, after it has tried the present one.
  ///
  /// - Parameters:
  ///   - container: Whose password.
  ///   - key: The key that has it; `nil` for the container's own.
  /// - Returns: That time; `nil` where it may be changed now.
  /// - Throws: ``SignetFailure``.
  public func earliestPasswordChange(
    of container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) -> Int64? {
    let protection = container.protection(of: key)
    guard let age = protection.passwordPolicy?.age, protection.lockPolicy != .silent,
      let times = try await passwordTimes(of: container, key)
    else { return nil }
    let earliest = age.earliestChange(of: times.stamp)
    return times.now(clock.now) >= earliest ? nil : earliest
  }

  /// Makes a code that sets a new password when the present one is forgotten or locked; the code before it is void.
  ///
  /// Show it once, and have it printed: nothing can show it again. It works on this device only where hardware keeps the keys
  /// (``keystoreKind``), and else wherever the files of this device are copied to.
  ///
  /// - Parameters:
  ///   - container: What it is to open.
  ///   - key: Which of its keys; `nil` for the container itself.
  ///   - password: UTF-8 as typed.
  /// - Returns: The code.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `accountLocked`.
  public func makeRecoveryCode(
    for container: Container, key: Key.Usage? = nil, password: SharedSecretBox
  ) async throws(SignetFailure) -> RecoveryCode {
    try await requireUnlocked(container)
    let unlocked = try await unlock(container, key: key, by: .password(password))
    return try await vaulted(await vault.makeRecoveryCode(for: unlocked))
  }

  /// Whether a recovery code was made for the present keys of a container, or for one of its keys.
  ///
  /// - Parameters:
  ///   - container: What it would open.
  ///   - key: Which of its keys; `nil` for the container itself.
  /// - Returns: Whether there is one.
  /// - Throws: ``SignetFailure``.
  public func hasRecoveryCode(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) -> Bool {
    let domain = container.domain(of: key)
    return try await vaulted(await vault.domains(of: container.id))
      .contains { $0.name == domain && $0.slot == .recovery }
  }

  /// Finds out whether the present password is right before another is chosen; it may be too old, and a wrong one counts.
  ///
  /// Under a silent lock nothing tells.
  ///
  /// - Parameters:
  ///   - password: The present one: UTF-8 as typed.
  ///   - container: Whose password.
  ///   - key: The key that has it; `nil` for the container's own.
  /// - Throws: ``SignetFailure``: above all `wrongPassword` and `waiting`.
  package func tryPresentPassword(
    _ password: SharedSecretBox, of container: Container, key: Key.Usage?
  ) async throws(SignetFailure) {
    try await requireIntegrity()
    try await container.naming(key) { () async throws(SignetFailure) in
      _ = try await vaulted(
        await vault.open(
          container.domain(of: key), of: container.id, with: .password(password.withSecret { $0.copy() })))
    }
  }

  /// Sets a new password with the recovery code, which stays valid; also of a locked container, which stays locked, since whoever has
  /// forgotten the password could never unlock it.
  ///
  /// - Parameters:
  ///   - container: Whose password.
  ///   - key: The key that has it; `nil` for the container's own.
  ///   - code: The code that was printed last.
  ///   - new: The next password: UTF-8 as typed.
  /// - Returns: Whether the hardware has counted the change.
  /// - Throws: ``SignetFailure``: above all `wrongRecoveryCode` and `passwordRefused`.
  @discardableResult
  public func resetPassword(
    of container: Container, key: Key.Usage? = nil, with code: RecoveryCode, to new: SharedSecretBox
  ) async throws(SignetFailure) -> PasswordChangeOutcome {
    try await container.naming(key) { () async throws(SignetFailure) in
      let policy = try await checked(new, container, key)
      clearPasswordCache()
      return PasswordChangeOutcome(
        try await vaulted(
          await vault.resetPassword(
            of: container.domain(of: key), in: container.id, with: code, to: new.withSecret { $0.copy() },
            policy: policy)))
    }
  }

  /// The policy of a container or a key, after a new password was checked with it, with the dictionary and with the app's own rules.
  private func checked(
    _ new: SharedSecretBox, _ container: Container, _ key: Key.Usage?
  ) async throws(SignetFailure) -> PasswordPolicy {
    try await requireIntegrity()
    guard let policy = container.protection(of: key).passwordPolicy else { throw .passwordRequired }
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
  func refuseExpiredPassword(of container: Container, _ key: Key.Usage?) async throws(SignetFailure) {
    let protection = container.protection(of: key)
    guard let age = protection.passwordPolicy?.age, age.maximumDays > 0, protection.lockPolicy != .silent
    else { return }
    guard let times = try await passwordTimes(of: container, key), let expiry = age.expiry(of: times.stamp)
    else { return }
    if times.now(clock.now) >= expiry { throw .passwordExpired }
  }

  /// Since when a password is in use; `nil` where there is none, or nobody knows.
  func passwordTimes(
    of container: Container, _ key: Key.Usage?
  ) async throws(SignetFailure) -> PasswordTimes? {
    let domain = container.domain(of: key)
    return try await vaulted(await vault.domains(of: container.id))
      .first { $0.name == domain && $0.slot == .password }?.password
  }
}
