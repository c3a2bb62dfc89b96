import SignetCrypto
import SignetVault
import SignetWire

/// A signing key of this device, ready to sign wherever it is.
package struct DeviceSigningKey: Sendable {
  let key: ContainerSigningKey
  let vault: Vault

  var publicKey: P256.Signing.PublicKey { key.publicKey }

  /// Signs a message with SHA-256.
  package func signature(of message: [UInt8]) async throws(SignetFailure) -> ECDSASignature {
    try await vaulted(await vault.signature(of: message, with: key))
  }

  /// Signs the transcript of an activation or a renewal that registers this key.
  func possession(of transcript: [UInt8]) async throws(SignetFailure) -> String {
    try await KeyPossession.signed(transcript, for: publicKey) {
      (message) async throws(SignetFailure) in try await signature(of: message)
    }
  }
}
