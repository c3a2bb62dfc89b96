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
  /// How many certificates are trusted.
  package let count: Int

  /// Takes certificates in DER.
  ///
  /// - Throws: ``CryptoFailure/invalidCertificate`` where one is none.
  package init(der certificates: [[UInt8]]) throws(CryptoFailure) {
    var read: [Certificate] = []
    for der in certificates { read.append(try Certificate(der: der)) }
    store = try CertificateStore(read)
    count = read.count
  }

  /// Checks the path of a chain: signatures, validity, and who may sign for whom (RFC 5280 section 6).
  ///
  /// - Parameters:
  ///   - chain: Certificates in DER, at most 8, the one in question first.
  ///   - unixTime: When all have to be valid, in seconds since 1970.
  /// - Throws: ``Refusal``.
  package func check(_ chain: [[UInt8]], at unixTime: Int64) throws(Refusal) {
    guard (1...8).contains(chain.count) else { throw .malformed }
    let code: Int32?
    do throws(CryptoFailure) {
      var certificates: [Certificate] = []
      for der in chain { certificates.append(try Certificate(der: der)) }
      code = try store.refusal(
        of: certificates[0], through: Array(certificates.dropFirst()), at: unixTime)
    } catch {
      throw .malformed
    }
    if let code { throw .path(code: code) }
  }
}
