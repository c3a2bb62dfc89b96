package import SignetCrypto
import SignetProtocol
package import SignetVault

/// A signing key of this device, in software or hardware, ready to sign.
package struct DeviceSigningKey: Sendable {
  let key: ContainerSigningKey
  let vault: Vault

  package init(key: ContainerSigningKey, vault: Vault) {
    self.key = key
    self.vault = vault
  }

  package var publicKey: P256.Signing.PublicKey { key.publicKey }

  /// Signs a message with ECDSA over SHA-256.
  package func signature(of message: [UInt8]) async throws(SignetFailure) -> ECDSASignature {
    try await vaulted(await vault.signature(of: message, with: key))
  }

  /// Signs the transcript of an activation or a renewal, as proof of possession of this key.
  func possession(of transcript: [UInt8]) async throws(SignetFailure) -> String {
    try await KeyPossession.signed(transcript, for: publicKey) {
      (message) async throws(SignetFailure) in try await signature(of: message)
    }
  }
}
