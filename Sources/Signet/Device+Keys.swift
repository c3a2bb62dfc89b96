import SignetCrypto
import SignetVault

extension Device {
  /// The key that signs a container's requests.
  func sessionKey(of container: Container) async throws(SignetFailure) -> P256.Signing.PrivateKey {
    try await vaulted(await vault.open(VaultLayout.device, of: container.id, with: .device)).signingKey(
      VaultLayout.sessionKey)
  }
}
