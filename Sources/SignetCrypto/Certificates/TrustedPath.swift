/// The path from a certificate to a trusted one (RFC 5280 section 6); only checking makes one.
package struct TrustedPath: Sendable {
  /// The SubjectPublicKeyInfo of each certificate in DER: that of the one in question first, of the trusted one last.
  package let publicKeys: [[UInt8]]
  private let leaf: Certificate

  init(_ certificates: [Certificate], leaf: Certificate) throws(CryptoFailure) {
    var keys: [[UInt8]] = []
    for certificate in certificates { keys.append(try certificate.subjectPublicKeyInfo()) }
    publicKeys = keys
    self.leaf = leaf
  }

  /// Whether the certificate in question is for signatures, or does not say what for (RFC 5280 section 4.2.1.3).
  package var isForSignatures: Bool { leaf.isForSignatures }

  /// Whether the certificate in question is one that issues others, and vouches for nothing itself.
  package var isAuthority: Bool { leaf.isAuthority }

  /// The extensions of the certificate in question with this object identifier.
  ///
  /// - Parameter identifier: Numbers with dots between them.
  /// - Throws: ``CryptoFailure/outOfMemory``.
  /// - Returns: The content of each `extnValue`, as a rule one or none.
  package func extensions(_ identifier: String) throws(CryptoFailure) -> [[UInt8]] {
    try leaf.extensions(identifier)
  }
}
