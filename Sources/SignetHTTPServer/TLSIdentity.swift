internal import CMicroHTTPD

/// A server's certificate chain and private key, stored outside Swift arrays and wiped on deallocation.
@safe package final class TLSIdentity: Sendable {
  package let certificateChainPEM: String
  // Written in `init` only.
  nonisolated(unsafe) private let certificate: UnsafeMutableBufferPointer<CChar>
  nonisolated(unsafe) private let privateKey: UnsafeMutableBufferPointer<CChar>

  /// Copies a chain and its key after checking that they belong together.
  ///
  /// - Parameters:
  ///   - certificateChainPEM: The server's certificate, then its intermediates (RFC 7468 section 5.1).
  ///   - privateKeyPEM: The key of the first certificate, unencrypted (RFC 7468 section 10, or SEC 1, or PKCS #1). The bytes
  ///     are copied; the caller wipes its own copy.
  /// - Throws: ``ServerFailure/certificateRefused(code:)`` with GnuTLS's code.
  package init(certificateChainPEM: String, privateKeyPEM: RawSpan) throws(ServerFailure) {
    let chain = UnsafeMutableBufferPointer<CChar>.allocate(
      capacity: certificateChainPEM.utf8.count + 1)
    for (index, byte) in certificateChainPEM.utf8.enumerated() {
      unsafe chain[index] = CChar(bitPattern: byte)
    }
    unsafe chain[chain.count - 1] = 0
    let key = UnsafeMutableBufferPointer<CChar>.allocate(capacity: privateKeyPEM.byteCount + 1)
    for index in 0..<privateKeyPEM.byteCount {
      unsafe key[index] = privateKeyPEM.unsafeLoad(fromByteOffset: index, as: CChar.self)
    }
    unsafe key[key.count - 1] = 0
    self.certificateChainPEM = certificateChainPEM
    unsafe certificate = chain
    unsafe privateKey = key
    let code = unsafe signet_tls_check(chain.baseAddress, key.baseAddress)
    guard code == 0 else { throw .certificateRefused(code: code) }
  }

  /// Creates an identity with a key in an array, which the caller wipes.
  package convenience init(certificateChainPEM: String, privateKeyPEM: [UInt8]) throws(ServerFailure) {
    try self.init(
      certificateChainPEM: certificateChainPEM, privateKeyPEM: unsafe privateKeyPEM.span.bytes)
  }

  deinit {
    unsafe signet_wipe(privateKey.baseAddress, privateKey.count)
    unsafe privateKey.deallocate()
    unsafe certificate.deallocate()
  }

  /// Lends both as zero-terminated PEM; the pointers are valid as long as `self` lives.
  func withPEM<R>(_ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> R) -> R {
    unsafe body(UnsafePointer(certificate.baseAddress), UnsafePointer(privateKey.baseAddress))
  }

  /// Returns GnuTLS's text for an error code.
  static func reason(ofCode code: Int32) -> String {
    let text = unsafe gnutls_strerror(code).map { unsafe String(cString: $0) } ?? ""
    return "GnuTLS \(code): \(text)"
  }

  /// GnuTLS's priority string for TLS 1.3 and 1.2 with ephemeral elliptic-curve keys and authenticated encryption only.
  package static let priorities =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
    + ":-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD"
    + ":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1"
}
