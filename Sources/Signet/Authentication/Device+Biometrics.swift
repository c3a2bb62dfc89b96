public import SignetCrypto
import SignetVault

extension Device {
  /// Returns the current state of biometrics for a container or one of its keys.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Returns: The status.
  /// - Throws: ``SignetError/biometrics(_:)`` if the sensor cannot be queried.
  public func biometricStatus(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) -> BiometricStatus {
    guard container.offersBiometrics(for: key) else { return .notOffered }
    guard let biometrics else { return .notCapable }
    return BiometricStatus(
      try await vaulted(
        await vault.biometricAuthentication(
          of: container.domain(of: key), in: container.id, with: biometrics)))
  }

  /// Enables biometrics for a container, for as long as no finger or face is enrolled or removed.
  ///
  /// Ask for the password first; it still opens the container afterwards. If biometrics were invalidated, this enables
  /// them for the currently enrolled set.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  ///   - password: UTF-8 as typed; a wrong one counts as an attempt.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `unlockMethodNotOffered`, `accountLocked`, and `biometrics` with
  ///   `notCapable` or `notEnrolled`, before the password is tried.
  public func enableBiometrics(
    for container: Container, key: Key.Usage? = nil, password: SharedSecretBox
  ) async throws(SignetError) {
    try await requireUnlocked(container)
    let gate = try await container.naming(key) { () async throws(SignetError) -> any BiometricGate in
      try await biometricGate(for: container, key)
    }
    let enrolled: EnrolledSet
    do throws(BiometricFailure) {
      switch try await gate.state() {
      case .notCapable: throw .notCapable
      case .notEnrolled: throw .notEnrolled
      case .ready(let set): enrolled = set
      }
    } catch { throw .biometrics(error) }
    let unlocked = try await unlock(container, key: key, by: .password(password))
    try await vaulted(await vault.enableBiometrics(for: unlocked, enrolled))
  }

  /// Disables biometrics for a container; if they are not enabled, nothing happens.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Throws: ``SignetError``.
  public func disableBiometrics(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) {
    try await vaulted(await vault.removeSlot(.biometric, of: container.domain(of: key), in: container.id))
  }
}
