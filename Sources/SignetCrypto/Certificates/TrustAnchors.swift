import COpenSSL

/// Certificates that are trusted to vouch for others (RFC 5280 section 6.1.1), prepared once for many paths.
package struct TrustAnchors: Sendable {
  /// Why a chain is not accepted.
  package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A certificate is none, or there is none.
    case malformed
    /// No path leads to a trusted certificate, or it is not valid: OpenSSL's code.
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

  /// Takes certificates in DER.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate`` where one is none.
  package init(der certificates: [[UInt8]]) throws(CryptoFailure) {
    var read: [Certificate] = []
    var keys: [[UInt8]] = []
    for der in certificates {
      let certificate = try Certificate(der: der)
      keys.append(try certificate.subjectPublicKeyInfo())
      read.append(certificate)
    }
    store = try CertificateStore(read)
    publicKeys = keys
  }

  /// Checks the path of a chain: signatures, validity, and who may sign for whom (RFC 5280 section 6).
  ///
  /// - Parameters:
  ///   - chain: Certificates in DER, at most 8, the one in question first.
  ///   - unixTime: When all have to be valid, in seconds since 1970.
  /// - Throws: ``Refusal``.
  /// - Returns: The path that was found.
  package func check(_ chain: [[UInt8]], at unixTime: Int64) throws(Refusal) -> TrustedPath {
    guard (1...8).contains(chain.count) else { throw .malformed }
    let code: Int32
    do throws(CryptoFailure) {
      var certificates: [Certificate] = []
      for der in chain { certificates.append(try Certificate(der: der)) }
      let leaf = certificates[0]
      switch try store.check(leaf, through: Array(certificates.dropFirst()), at: unixTime) {
      case .path(let path): return try TrustedPath(path, leaf: leaf)
      case .refused(let refusal): code = refusal
      }
    } catch {
      throw .malformed
    }
    throw .path(code: code)
  }
}
