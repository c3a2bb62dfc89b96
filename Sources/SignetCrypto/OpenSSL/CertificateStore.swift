import COpenSSL

/// A store of trusted certificates, prepared once.
///
/// The corresponding C functions are `X509_STORE_…` and `X509_verify_cert`.
@safe final class CertificateStore: @unchecked Sendable {  // immutable after init
  /// The result of a verification.
  enum Outcome {
    /// There is a valid path: from the certificate to a trusted one.
    case path([Certificate])
    /// There is no valid path; the value is OpenSSL's code, one of `X509_V_ERR_…`.
    case refused(Int32)
  }

  private let raw: OpaquePointer

  init(_ certificates: [Certificate]) throws(CryptoFailure) {
    guard let raw = unsafe X509_STORE_new() else { throw .outOfMemory }
    unsafe self.raw = raw
    for certificate in certificates {
      try OpenSSLCall.check(unsafe X509_STORE_add_cert(raw, certificate.raw), "X509_STORE_add_cert")
    }
  }

  deinit { unsafe X509_STORE_free(raw) }

  /// Finds and verifies a path from `leaf` to a certificate of the store.
  ///
  /// - Parameters:
  ///   - leaf: The certificate to verify.
  ///   - intermediates: Untrusted certificates that the path may contain.
  ///   - unixTime: The time at which the whole path must be valid, in seconds since 1970.
  /// - Throws: ``CryptoFailure/outOfMemory``, ``CryptoFailure/library(function:code:)``.
  /// - Returns: The path, or the reason why there is none.
  func check(
    _ leaf: Certificate, through intermediates: [Certificate], at unixTime: Int64
  ) throws(CryptoFailure) -> Outcome {
    guard let context = unsafe X509_STORE_CTX_new() else { throw .outOfMemory }
    defer { unsafe X509_STORE_CTX_free(context) }
    guard let chain = unsafe OPENSSL_sk_new_null() else { throw .outOfMemory }
    // The stack borrows its elements: the array keeps the certificates alive, and the verification copies none.
    defer { unsafe OPENSSL_sk_free(chain) }
    for certificate in intermediates {
      guard unsafe OPENSSL_sk_push(chain, UnsafeRawPointer(certificate.raw)) > 0 else { throw .outOfMemory }
    }
    try OpenSSLCall.check(
      unsafe X509_STORE_CTX_init(context, raw, leaf.raw, chain), "X509_STORE_CTX_init")
    let parameters = unsafe X509_STORE_CTX_get0_param(context)
    // A trusted certificate ends the path even if it is not self-signed; it may be the leaf itself.
    let flags = UInt(X509_V_FLAG_PARTIAL_CHAIN)
    try OpenSSLCall.check(
      unsafe X509_VERIFY_PARAM_set_flags(parameters, flags), "X509_VERIFY_PARAM_set_flags")
    unsafe X509_VERIFY_PARAM_set_time(parameters, Int(unixTime))
    unsafe X509_VERIFY_PARAM_set_depth(parameters, 8)
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 1)
    let result = unsafe X509_verify_cert(context)
    defer { withExtendedLifetime((leaf, intermediates)) { OpenSSLCall.forgetErrors() } }
    guard result == 1 else {
      let code = unsafe X509_STORE_CTX_get_error(context)
      return .refused(code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code)
    }
    let found = unsafe X509_STORE_CTX_get0_chain(context)
    var path: [Certificate] = []
    for index in 0..<(unsafe OPENSSL_sk_num(found)) {
      guard let entry = unsafe OpaquePointer(OPENSSL_sk_value(found, index)),
        unsafe X509_up_ref(entry) == 1
      else { throw .outOfMemory }
      path.append(unsafe Certificate(owning: entry))
    }
    return .path(path)
  }
}
