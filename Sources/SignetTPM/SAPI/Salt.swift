#if os(Linux)
  import SignetCrypto

  /// A secret shared only with the TPM that has a certain storage key (part 1 section C.6.1).
  struct Salt {
    let secret: SharedSecretBox
    /// The public part of the ephemeral key pair, from which the TPM derives the secret.
    let point: P256.KeyAgreement.PublicKey

    init(for peer: P256.KeyAgreement.PublicKey) throws(CryptoFailure) {
      let ephemeral = P256.KeyAgreement.PrivateKey()
      let shared = try ephemeral.sharedSecret(with: peer)
      // KDFe with SHA-256; one round is enough.
      var hash = IncrementalHash(.sha256)
      hash.update(UInt32(1).bigEndianBytes)
      shared.withBytes { hash.update($0) }
      hash.update(Array("SECRET".utf8) + [0] + ephemeral.publicKey.x + peer.x)
      var digest = hash.finish()
      secret = SharedSecretBox(SecretBytes(copying: digest))
      digest.wipe()
      point = ephemeral.publicKey
    }
  }
#endif
