import COpenSSL

/// An RSA public key for verifying signatures.
///
/// The corresponding C function is `EVP_PKEY_verify`.
final class RSAPublicKey: Sendable {
  private let key: KeyHandle

  init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoFailure) {
    let n = try BigNumber(bigEndian: modulus.span)
    let e = try BigNumber(bigEndian: exponent.span)
    let builder = try KeyBuilder()
    try builder.setNumber("n", n)
    try builder.setNumber("e", e)
    key = try builder.build("RSA", selection: COpenSSL_EVP_PKEY_PUBLIC_KEY())
  }

  func isValidSignature(_ signature: [UInt8], for message: [UInt8], padding: RSA.Padding) -> Bool {
    isValidSignature(signature, forDigest: padding.hash.digest(of: message), padding: padding)
  }

  func isValidSignature(_ signature: [UInt8], forDigest digest: [UInt8], padding: RSA.Padding) -> Bool {
    let hash = padding.hash
    let saltLength: Int? = if case .pss(_, let length) = padding { length } else { nil }
    guard hash != .sha1, digest.count == hash.byteCount, (0...1024).contains(saltLength ?? 0) else {
      return false
    }
    do throws(CryptoFailure) {
      let operation = try unsafe KeyOperation(
        key, "EVP_PKEY_verify_init",
        { context in
          guard unsafe EVP_PKEY_verify_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_padding(
              context, saltLength == nil ? RSA_PKCS1_PADDING : RSA_PKCS1_PSS_PADDING) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(context, hash.algorithm.raw) == 1
          else { return 0 }
          guard let saltLength else { return 1 }
          return unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(context, Int32(saltLength))
        })
      return operation.verifies(signature, digest: digest)
    } catch {
      return false  // out of memory: invalid is the safe answer
    }
  }
}

extension RSA.Padding {
  var hash: HashFunction {
    switch self {
    case .pkcs1(let hash), .pss(let hash, _): hash
    }
  }
}

final class RSAPrivateKey: Sendable {
  private let key: KeyHandle
  private let byteCount: Int

  init(pem: borrowing SecretBytes) throws(CryptoFailure) {
    key = try PrivateKeyPEM.read(pem)
    guard unsafe EVP_PKEY_is_a(key.raw, "RSA") == 1 else { throw .invalidPrivateKey }
    let bits = Int(unsafe EVP_PKEY_get_bits(key.raw))
    guard (2048...8192).contains(bits) else { throw .rsaModulus(bits: bits) }
    byteCount = (bits + 7) / 8
  }

  /// Signs a digest with RSASSA-PKCS1-v1_5.
  ///
  /// The corresponding C function is `EVP_PKEY_sign`.
  func signature(ofDigest digest: [UInt8], _ hash: HashFunction) throws(CryptoFailure) -> [UInt8] {
    let operation = try unsafe KeyOperation(
      key, "EVP_PKEY_sign_init",
      { context in
        guard unsafe EVP_PKEY_sign_init(context) == 1,
          unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        else { return 0 }
        return unsafe EVP_PKEY_CTX_set_signature_md(context, hash.algorithm.raw)
      })
    return try operation.sign(digest, maximumByteCount: byteCount)
  }
}
