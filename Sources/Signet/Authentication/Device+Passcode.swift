public import SignetCrypto
import SignetVault

extension Device {
  /// Returns the current state of the device passcode for a container or one of its keys.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Returns: The status.
  /// - Throws: ``SignetError``.
  public func passcodeStatus(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) -> PasscodeStatus {
    guard container.offersPasscode(for: key) else { return .notOffered }
    guard let passcode, await passcode.state() == .ready else { return .notCapable }
    let slots = try await vaulted(await vault.domains(of: container.id))
    let domain = container.domain(of: key)
    let isEnabled = slots.contains { $0.name == domain && $0.slot == .devicePasscode }
    return isEnabled ? .enabled : .notEnabled
  }

  /// Enables the device passcode for a container.
  ///
  /// Ask for the password first; it still opens the container afterwards.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  ///   - password: UTF-8 as typed; a wrong one counts as an attempt.
  /// - Throws: ``SignetError``, in particular `wrongPassword`, `unlockMethodNotOffered`, `accountLocked`, and `passcode` with
  ///   `notCapable`, before the password is tried.
  public func enablePasscode(
    for container: Container, key: Key.Usage? = nil, password: SharedSecretBox
  ) async throws(SignetError) {
    try await requireUnlocked(container)
    _ = try await container.naming(key) { () async throws(SignetError) -> any DevicePasscode in
      try await devicePasscode(for: container, key)
    }
    let unlocked = try await unlock(container, key: key, by: .password(password))
    try await vaulted(await vault.enablePasscode(for: unlocked))
  }

  /// Disables the device passcode for a container; if it is not enabled, nothing happens.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - key: The key; `nil` for the container itself.
  /// - Throws: ``SignetError``.
  public func disablePasscode(
    for container: Container, key: Key.Usage? = nil
  ) async throws(SignetError) {
    try await vaulted(
      await vault.removeSlot(.devicePasscode, of: container.domain(of: key), in: container.id))
  }
}
