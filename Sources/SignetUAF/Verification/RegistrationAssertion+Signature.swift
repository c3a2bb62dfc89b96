import SignetCrypto

extension RegistrationAssertion {
  /// Verifies the attestation's signature, by the new key itself or by the key of the first certificate.
  ///
  /// The trust in the certificate is not verified here. ECDAA is always invalid.
  func isSigned(by key: UAFPublicKey, isStrict: Bool) throws(UAFKeyFailure) -> Bool {
    let signer: UAFPublicKey
    switch attestation {
    case .basicSurrogate: signer = key
    case .basicFull(_, let certificates):
      guard let leaf = certificates.first else { return false }
      let info: [UInt8]
      do throws(CryptoFailure) {
        info = try SubjectPublicKeyInfo.ofCertificate(der: leaf)
      } catch {
        throw .key(error)
      }
      signer = try UAFPublicKey(subjectPublicKeyInfo: info, for: data.algorithm)
    case .ecdaa: return false
    }
    return signer.isValidSignature(
      attestation.signature, data.algorithm, of: bytes, in: signedRange, isStrict: isStrict)
  }
}
