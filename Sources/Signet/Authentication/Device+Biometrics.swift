public import SignetCrypto
import SignetVault

extension Device {
  /// Whether a finger or a face opens a container, or one of its keys, on this device now.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - key: Which of its keys; `nil` for the container itself.
  /// - Returns: The status.
  /// - Throws: ``SignetFailure/biometrics(_:)`` where the sensor cannot be asked.
  public func biometricStatus(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) -> BiometricStatus {
    guard container.offersBiometrics(for: key) else { return .notOffered }
    guard let biometrics else { return .notCapable }
    return BiometricStatus(
      try await vaulted(
        await vault.biometricAuthentication(
          of: container.domain(of: key), in: container.id, with: biometrics)))
  }

  /// Has a biometric match open a container from now on, as long as nobody enrols or removes a finger or a face.
  ///
  /// Ask for the password first; it still opens the container afterwards. Where biometrics were invalidated, this makes them good
  /// for the set that is enrolled now.
  ///
  /// - Parameters:
  ///   - container: What it is to open.
  ///   - key: Which of its keys; `nil` for the container itself.
  ///   - password: UTF-8 as typed; a wrong one counts as any other.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `wayNotOffered`, `accountLocked`, and `biometrics` with `notCapable` or
  ///   `notEnrolled`, before the password is tried.
  public func enableBiometrics(
    for container: Container, key: Key.Usage? = nil, password: SharedSecretBox
  ) async throws(SignetFailure) {
    try await requireUnlocked(container)
    let gate = try await container.naming(key) { () async throws(SignetFailure) -> any BiometricGate in
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

  /// Has no biometric match open a container any more; nothing happens where none does.
  ///
  /// - Parameters:
  ///   - container: Which one.
  ///   - key: Which of its keys; `nil` for the container itself.
  /// - Throws: ``SignetFailure``.
  public func disableBiometrics(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetFailure) {
    try await vaulted(await vault.removeSlot(.biometric, of: container.domain(of: key), in: container.id))
  }
}
