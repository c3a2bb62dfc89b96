import COpenSSL

/// Private keys in PEM from other programs.
enum PrivateKeyPEM {
  /// Parses a key of at most 64 KiB without a passphrase: PKCS #8 or one of the older forms.
  ///
  /// The corresponding C function is `PEM_read_bio_PrivateKey`. Its callback rejects the request for a passphrase, which
  /// OpenSSL would otherwise prompt for on the terminal.
  static func read(_ pem: borrowing SecretBytes) throws(CryptoFailure) -> KeyHandle {
    guard pem.byteCount <= 65_536 else { throw .invalidPrivateKey }
    let key: OpaquePointer? = unsafe pem.withUInt8Span { pem in
      unsafe pem.withUnsafeBytes { pem in
        guard let source = unsafe BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)) else { return nil }
        defer { unsafe BIO_free(source) }
        return unsafe PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
      }
    }
    guard let key = unsafe key else {
      OpenSSLCall.forgetErrors()
      throw .invalidPrivateKey
    }
    return unsafe KeyHandle(owning: key)
  }
}

extension EllipticCurve {
  /// Returns the private scalar of a P-256 key, 32 bytes.
  ///
  /// - Throws: ``CryptoFailure/invalidPrivateKey`` for a key of another kind.
  static func p256Scalar(of key: KeyHandle) throws(CryptoFailure) -> SecretBytes {
    var name = [CChar](repeating: 0, count: 32)
    var count = 0
    guard unsafe EVP_PKEY_is_a(key.raw, "EC") == 1,
      unsafe EVP_PKEY_get_group_name(key.raw, &name, name.count, &count) == 1,
      String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) == "prime256v1"
    else {
      OpenSSLCall.forgetErrors()
      throw .invalidPrivateKey
    }
    return try BigNumber(OSSL_PKEY_PARAM_PRIV_KEY, of: key).secretBytes(byteCount: 32)
  }
}
