import COpenSSL

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
