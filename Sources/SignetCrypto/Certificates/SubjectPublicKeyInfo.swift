/// The public key of a certificate, as pins name it.
public enum SubjectPublicKeyInfo {
  /// The SHA-256 digest of the SubjectPublicKeyInfo of a certificate in PEM, 32 bytes (RFC 7469 section 2.4).
  ///
  /// Only the first certificate of the text counts: the server's own in a chain.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate``.
  public static func sha256Pin(ofCertificatePEM pem: String) throws(CryptoFailure) -> [UInt8] {
    HashFunction.sha256.digest(of: try Certificate(pem: pem).subjectPublicKeyInfo())
  }

  /// The SubjectPublicKeyInfo of a certificate in DER, itself in DER.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate``.
  package static func ofCertificate(der: [UInt8]) throws(CryptoFailure) -> [UInt8] {
    try Certificate(der: der).subjectPublicKeyInfo()
  }
}
