/// A verified path from a certificate to a trusted one (RFC 5280 section 6); only the verification creates one.
package struct TrustedPath: Sendable {
  /// The SubjectPublicKeyInfo of each certificate in DER, from the leaf's to that of the trusted certificate.
  package let publicKeys: [[UInt8]]
  private let leaf: Certificate

  init(_ certificates: [Certificate], leaf: Certificate) throws(CryptoFailure) {
    var keys: [[UInt8]] = []
    for certificate in certificates { keys.append(try certificate.subjectPublicKeyInfo()) }
    publicKeys = keys
    self.leaf = leaf
  }

  /// Indicates whether the leaf's key may sign, or has no key usage extension (RFC 5280 section 4.2.1.3).
  package var isForSignatures: Bool { leaf.isForSignatures }

  /// Indicates whether the leaf is a certificate authority.
  package var isAuthority: Bool { leaf.isAuthority }

  /// Returns the leaf's extensions with this object identifier.
  ///
  /// - Parameter identifier: Numbers with dots between them.
  /// - Throws: ``CryptoFailure/outOfMemory``.
  /// - Returns: The content of each `extnValue`, usually one or none.
  package func extensions(_ identifier: String) throws(CryptoFailure) -> [[UInt8]] {
    try leaf.extensions(identifier)
  }
}
