import SignetCrypto
import SignetVault

/// A signing key of this device, ready to sign wherever it is.
struct DeviceSigningKey: Sendable {
  let key: ContainerSigningKey
  let vault: Vault

  var publicKey: P256.Signing.PublicKey { key.publicKey }

  /// Signs a message with SHA-256.
  func signature(of message: [UInt8]) async throws(SignetFailure) -> ECDSASignature {
    try await vaulted(await vault.signature(of: message, with: key))
  }
}
