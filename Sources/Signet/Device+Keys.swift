import SignetCrypto
import SignetPolicy
import SignetVault
import SignetWire

extension Device {
  /// The key that signs a container's requests.
  ///
  /// - Parameters:
  ///   - container: Whose.
  ///   - authentication: What opens it; `nil` where the device alone does.
  /// - Returns: The key.
  /// - Throws: ``SignetFailure``.
  package func sessionKey(
    of container: Container, by authentication: Authentication?
  ) async throws(SignetFailure) -> DeviceSigningKey {
    try await unlock(container, key: .sessionTransport, by: authentication).signingKey(
      VaultLayout.sessionKey, in: vault)
  }

  /// Makes the keys of a container under a profile.
  ///
  /// A hardware key would say whether the password of a silent domain was right, so such a domain has its key in software.
  func makeKeys(for profile: ContainerProfile) async throws(SignetFailure) -> PrivateContainerKeys {
    let session = try await vaulted(await vault.makeSigningKey())
    if case .silent = profile.protection(of: .signing).lockPolicy {
      return PrivateContainerKeys(session: session, signing: ContainerSigningKey(P256.Signing.PrivateKey()))
    }
    return PrivateContainerKeys(
      session: session, signing: try await vaulted(await vault.makeSigningKey()))
  }
}
