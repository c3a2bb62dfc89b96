import SignetCrypto
import SignetPolicy
import SignetProtocol
package import SignetVault

extension Device {
  /// Opens the key that signs a container's requests.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the key; `nil` if the device opens it alone.
  /// - Returns: The key.
  /// - Throws: ``SignetError``.
  package func sessionKey(
    of container: Container, by authentication: Authentication?
  ) async throws(SignetError) -> ContainerSigningKey {
    try await unlock(container, key: .sessionTransport, by: authentication).signingKey(
      VaultLayout.sessionKey, in: vault)
  }

  /// Makes the keys of a container for a profile.
  ///
  /// Under a silent lock policy the signing key is in software, because a hardware key would reveal whether a password was right.
  func makeKeys(for profile: ContainerProfile) async throws(SignetError) -> PrivateContainerKeys {
    let session = try await vaulted(await vault.makeSigningKey())
    if case .silent = profile.protection(of: .signing).lockPolicy {
      return PrivateContainerKeys(session: session, signing: ContainerSigningKey(P256.Signing.PrivateKey()))
    }
    return PrivateContainerKeys(
      session: session, signing: try await vaulted(await vault.makeSigningKey()))
  }
}
