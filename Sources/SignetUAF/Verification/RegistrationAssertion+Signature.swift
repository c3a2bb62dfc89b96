import SignetCrypto

extension RegistrationAssertion {
  /// Whether the attestation's signature is right: by the key itself, or by that of the first certificate.
  ///
  /// Whether the certificate is to be trusted is not looked at here. ECDAA is nothing that can be right.
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
