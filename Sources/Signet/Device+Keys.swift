import SignetCrypto
import SignetPolicy
import SignetVault

extension Device {
  /// The key that signs a container's requests.
  func sessionKey(of container: Container) async throws(SignetFailure) -> DeviceSigningKey {
    try await vaulted(await vault.open(VaultLayout.device, of: container.id, with: .device)).signingKey(
      VaultLayout.sessionKey, in: vault)
  }

  /// Makes the keys of a container that a policy protects.
  ///
  /// A hardware key would say whether the password of a silent domain was right, so such a domain has its key in software.
  func makeKeys(protectedBy protection: ProtectionPolicy) async throws(SignetFailure) -> PrivateContainerKeys
  {
    let session = try await vaulted(await vault.makeSigningKey())
    if case .silent = protection.lockPolicy {
      return PrivateContainerKeys(session: session, signing: ContainerSigningKey(P256.Signing.PrivateKey()))
    }
    return PrivateContainerKeys(
      session: session, signing: try await vaulted(await vault.makeSigningKey()))
  }
}
