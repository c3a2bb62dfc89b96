import COpenSSL

/// Certificates that are trusted, prepared once.
///
/// The corresponding C functions are `X509_STORE_…` and `X509_verify_cert`.
@safe final class CertificateStore: @unchecked Sendable {  // never changed after init
  /// What became of a certificate.
  enum Outcome {
    /// It leads to a trusted one: itself first, the trusted one last.
    case path([Certificate])
    /// It does not: OpenSSL's code, one of `X509_V_ERR_…`.
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

  /// Looks for a path from `leaf` to a certificate of the store.
  ///
  /// - Parameters:
  ///   - leaf: The certificate in question.
  ///   - intermediates: Others that the path may run through, not trusted by themselves.
  ///   - unixTime: When all of the path has to be valid.
  /// - Throws: ``CryptoFailure/outOfMemory``, ``CryptoFailure/library(function:code:)``.
  /// - Returns: The path, or why there is none.
  func check(
    _ leaf: Certificate, through intermediates: [Certificate], at unixTime: Int64
  ) throws(CryptoFailure) -> Outcome {
    guard let context = unsafe X509_STORE_CTX_new() else { throw .outOfMemory }
    defer { unsafe X509_STORE_CTX_free(context) }
    guard let chain = unsafe OPENSSL_sk_new_null() else { throw .outOfMemory }
    // The stack borrows: the array keeps its certificates alive, and the check copies none.
    defer { unsafe OPENSSL_sk_free(chain) }
    for certificate in intermediates {
      guard unsafe OPENSSL_sk_push(chain, UnsafeRawPointer(certificate.raw)) > 0 else { throw .outOfMemory }
    }
    try OpenSSLCall.check(
      unsafe X509_STORE_CTX_init(context, raw, leaf.raw, chain), "X509_STORE_CTX_init")
    let parameters = unsafe X509_STORE_CTX_get0_param(context)
    // A trusted certificate ends the path even where it does not sign itself, such as that of the leaf itself.
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
