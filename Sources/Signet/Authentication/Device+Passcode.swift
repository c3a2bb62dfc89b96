public import SignetCrypto
import SignetVault

extension Device {
  /// Whether the passcode of the device opens a container now.
  ///
  /// - Parameter container: Which one.
  /// - Returns: The status.
  /// - Throws: ``SignetFailure``.
  public func passcodeStatus(for container: Container) async throws(SignetFailure) -> PasscodeStatus {
    guard container.offersPasscode else { return .notOffered }
    guard let passcode, await passcode.state() == .ready else { return .notCapable }
    let ways = try await vaulted(await vault.domains(of: container.id))
    let isEnabled = ways.contains { $0.name == VaultLayout.user && $0.slot == .devicePasscode }
    return isEnabled ? .enabled : .notEnabled
  }

  /// Has the passcode of the device open a container from now on.
  ///
  /// Ask for the password first; it still opens the container afterwards.
  ///
  /// - Parameters:
  ///   - container: What it is to open.
  ///   - password: UTF-8 as typed; a wrong one counts as any other.
  /// - Throws: ``SignetFailure``: above all `wrongPassword`, `wayNotOffered`, and `passcode` with `notCapable`, before the
  ///   password is tried.
  public func enablePasscode(
    for container: Container, password: SharedSecretBox
  ) async throws(SignetFailure) {
    _ = try await devicePasscode(for: container)
    let unlocked = try await unlock(container, by: .password(password))
    try await vaulted(await vault.enablePasscode(for: unlocked))
  }

  /// Has the passcode of the device not open a container any more; nothing happens where it does not.
  ///
  /// - Parameter container: Which one.
  /// - Throws: ``SignetFailure``.
  public func disablePasscode(for container: Container) async throws(SignetFailure) {
    try await vaulted(await vault.removeSlot(.devicePasscode, of: VaultLayout.user, in: container.id))
  }
}
