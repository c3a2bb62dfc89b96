import SignetCrypto
import SignetPolicy
import SignetVault
import SignetWire

extension Device {
  /// The key that signs a container's requests.
  func sessionKey(of container: Container) async throws(SignetFailure) -> P256.Signing.PrivateKey {
    try await vaulted(await vault.open(VaultLayout.device, of: container.id, with: .device)).signingKey(
      VaultLayout.sessionKey)
  }

  /// Opens what the container's protection policy protects.
  ///
  /// - Parameters:
  ///   - container: Whose secrets.
  ///   - password: UTF-8 as typed; not needed where the device alone protects.
  /// - Returns: The open domain; letting go of it locks it.
  /// - Throws: ``SignetFailure``.
  func unlock(
    _ container: Container, password: SharedSecretBox?
  ) async throws(SignetFailure) -> UnlockedDomain {
    switch container.profile.protection {
    case .device:
      return try await vaulted(await vault.open(VaultLayout.user, of: container.id, with: .device))
    default:
      guard let password else { throw .passwordRequired }
      try await refuseExpiredPassword(of: container)
      return try await vaulted(
        await vault.open(
          VaultLayout.user, of: container.id, with: .password(password.withSecret { $0.copy() })))
    }
  }
}
