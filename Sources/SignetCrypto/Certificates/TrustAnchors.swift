import COpenSSL

/// Trusted certificates (RFC 5280 section 6.1.1), prepared once for the verification of many paths.
package struct TrustAnchors: Sendable {
  /// The reasons to reject a chain.
  package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The chain is empty, too long or has a malformed certificate.
    case malformed
    /// There is no valid path to a trusted certificate; the value is OpenSSL's code.
    case path(code: Int32)

    package var description: String {
      switch self {
      case .malformed: return "a certificate cannot be read"
      case .path(let code):
        guard let text = unsafe X509_verify_cert_error_string(Int(code)) else { return "code \(code)" }
        return unsafe String(cString: text)
      }
    }
  }

  private let store: CertificateStore
  /// The SubjectPublicKeyInfo of each trusted certificate, in DER.
  package let publicKeys: [[UInt8]]

  /// Creates trust anchors from certificates in DER.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate`` if one is malformed.
  package init(der certificates: [[UInt8]]) throws(CryptoFailure) {
    var read: [Certificate] = []
    for der in certificates { read.append(try Certificate(der: der)) }
    try self.init(read)
  }

  /// Creates trust anchors from certificates in PEM, at most 64 KiB.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate`` if there is none, or one is malformed.
  package init(pem: String) throws(CryptoFailure) { try self.init(Certificate.all(inPEM: pem)) }

  private init(_ certificates: [Certificate]) throws(CryptoFailure) {
    var keys: [[UInt8]] = []
    for certificate in certificates { keys.append(try certificate.subjectPublicKeyInfo()) }
    store = try CertificateStore(certificates)
    publicKeys = keys
  }

  /// Verifies the path of a chain: signatures, validity, and the right to issue (RFC 5280 section 6).
  ///
  /// - Parameters:
  ///   - chain: The certificates in DER, at most 8, the leaf first.
  ///   - unixTime: The time at which all must be valid, in seconds since 1970.
  /// - Throws: ``Refusal`` if the chain is rejected.
  /// - Returns: The verified path.
  package func check(_ chain: [[UInt8]], at unixTime: Int64) throws(Refusal) -> TrustedPath {
    guard chain.count <= Self.longestChain else { throw .malformed }
    var certificates: [Certificate] = []
    do throws(CryptoFailure) {
      for der in chain { certificates.append(try Certificate(der: der)) }
    } catch { throw .malformed }
    return try check(certificates, at: unixTime)
  }

  /// Verifies the path of a chain in PEM, like ``check(_:at:)``.
  package func check(pem chain: String, at unixTime: Int64) throws(Refusal) -> TrustedPath {
    let certificates: [Certificate]
    do throws(CryptoFailure) { certificates = try Certificate.all(inPEM: chain) } catch { throw .malformed }
    return try check(certificates, at: unixTime)
  }

  private static let longestChain = 8

  private func check(_ chain: [Certificate], at unixTime: Int64) throws(Refusal) -> TrustedPath {
    guard (1...Self.longestChain).contains(chain.count) else { throw .malformed }
    let code: Int32
    do throws(CryptoFailure) {
      switch try store.check(chain[0], through: Array(chain.dropFirst()), at: unixTime) {
      case .path(let path): return try TrustedPath(path, leaf: chain[0])
      case .refused(let refusal): code = refusal
      }
    } catch {
      throw .malformed
    }
    throw .path(code: code)
  }
}

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
