#if os(Linux)
  public import SignetCrypto
  public import SignetVault

  extension TPMKeystore: SigningKeystore {
    /// Makes a P-256 key in the TPM; its private part leaves the TPM only encrypted for the same TPM.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    public func makeSigningKey(
      authorization: borrowing SecretBytes
    ) throws(KeystoreFailure) -> HardwareSigningKey {
      let value = AuthorizationValues.ofSecret(authorization, Self.signingPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent()
        let created = try conversation.create(
          ObjectTemplate.signingKey, value: value, data: SecretBytes(copying: []), under: parent)
        let publicKey: P256.Signing.PublicKey
        do throws(CryptoFailure) {
          publicKey = try P256.Signing.PublicKey(x963: [0x04] + created.unique)
        } catch {
          throw .keystore(.disconnected)
        }
        return HardwareSigningKey(
          blob: TPMBlob.signingKey(created.object(under: parent)).bytes, publicKey: publicKey)
      }
    }

    /// Signs a digest with a key that this TPM made.
    ///
    /// - Throws: ``SignetVault/KeystoreFailure``.
    /// - Precondition: The digest has 32 bytes.
    public func signature(
      ofDigest digest: [UInt8], with blob: [UInt8], authorization: borrowing SecretBytes
    ) throws(KeystoreFailure) -> ECDSASignature {
      precondition(digest.count == 32, "a digest has 32 bytes, not \(digest.count)")
      guard case .signingKey(let object) = TPMBlob(blob) else { throw .refused }
      let value = AuthorizationValues.ofSecret(authorization, Self.signingPurpose)
      return try converse { conversation throws(TPMFailure) in
        let parent = try conversation.parent(named: object.parentName)
        let template = ObjectTemplate.signingKey(
          x: Array(object.unique[..<32]), y: Array(object.unique[32...]))
        let key = try conversation.load(object.privatePart, template, under: parent)
        let session = try conversation.session(saltedFor: parent)
        let raw = try TPMFailure.meaning([TPMResponse.badAuth: .refused, TPMResponse.authFail: .refused]) {
          () throws(TPMFailure) in try conversation.sign(digest, key, session, value: value)
        }
        do throws(CryptoFailure) { return try ECDSASignature(rawRepresentation: raw) } catch {
          throw .keystore(.disconnected)
        }
      }
    }

    private static let signingPurpose = "signet tpm signing key v1"
  }
#endif
