/// The public key of a certificate, for pinning.
public enum SubjectPublicKeyInfo {
  /// Returns the SHA-256 digest of the SubjectPublicKeyInfo of a certificate in PEM, 32 bytes (RFC 7469 section 2.4).
  ///
  /// Only the first certificate of the text is used: the server's own in a chain.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate`` if the text does not begin with a valid one.
  public static func sha256Pin(ofCertificatePEM pem: String) throws(CryptoFailure) -> [UInt8] {
    HashFunction.sha256.digest(of: try Certificate(pem: pem).subjectPublicKeyInfo())
  }

  /// Returns the DER SubjectPublicKeyInfo of a DER certificate.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate`` if the bytes are no certificate.
  package static func ofCertificate(der: [UInt8]) throws(CryptoFailure) -> [UInt8] {
    try Certificate(der: der).subjectPublicKeyInfo()
  }
}
