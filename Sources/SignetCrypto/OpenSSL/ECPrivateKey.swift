import COpenSSL

/// Prepared operations of keys on a curve.
enum ECOperation {
  static func signing(_ key: KeyHandle) throws(CryptoFailure) -> KeyOperation {
    try unsafe KeyOperation(key, "EVP_PKEY_sign_init", { unsafe EVP_PKEY_sign_init($0) })
  }

  static func agreement(_ key: KeyHandle) throws(CryptoFailure) -> KeyOperation {
    try unsafe KeyOperation(key, "EVP_PKEY_derive_init", { unsafe EVP_PKEY_derive_init($0) })
  }
}

/// A private key on P-256 with its public key.
final class ECPrivateKey: Sendable {
  let key: KeyHandle
  /// The uncompressed point of the public key, 65 bytes.
  let point: [UInt8]
  /// The prepared operation: signing or key agreement, depending on the key's purpose.
  private let operation: KeyOperation

  convenience init(signs: Bool) throws(CryptoFailure) {
    try self.init(EllipticCurve.p256.generate(), signs: signs)
  }

  /// Decodes a private scalar of 32 bytes.
  convenience init(scalar: Span<UInt8>, signs: Bool) throws(CryptoFailure) {
    try self.init(EllipticCurve.p256.privateKey(scalar: scalar), signs: signs)
  }

  private init(_ key: KeyHandle, signs: Bool) throws(CryptoFailure) {
    operation = signs ? try ECOperation.signing(key) : try ECOperation.agreement(key)
    point = try key.octets(OSSL_PKEY_PARAM_PUB_KEY, maximumByteCount: EllipticCurve.pointByteCount)
    self.key = key
  }

  /// Returns the private scalar, 32 bytes.
  func scalar() throws(CryptoFailure) -> SecretBytes {
    try BigNumber(OSSL_PKEY_PARAM_PRIV_KEY, of: key).secretBytes(byteCount: EllipticCurve.fieldByteCount)
  }

  /// Signs a message with SHA-256.
  func signature(for message: [UInt8]) throws(CryptoFailure) -> ECDSASignature {
    let digest = HashFunction.sha256.digest(of: message)
    let der = try KeyOperation(duplicating: operation).sign(digest, maximumByteCount: 80)
    return try ECDSASignature(derRepresentation: der)
  }

  /// Returns the X coordinate of the product with `peer`, 32 bytes (NIST SP 800-56A section 5.7.1.2).
  ///
  /// With 0 as the third argument of `EVP_PKEY_derive_set_peer_ex`, OpenSSL skips multiplying the peer's point by the
  /// curve's order, which would take as long as the derivation. That check is redundant. Decoding verified that the point is
  /// on the curve. The point at infinity has no accepted encoding, and with a cofactor of 1 every other point has the right
  /// order.
  func sharedSecret(with peer: ECPublicKey) throws(CryptoFailure) -> SecretBytes {
    let operation = try KeyOperation(duplicating: operation)
    try peer.withAgreementKey { (key) throws(CryptoFailure) in
      try OpenSSLCall.check(
        unsafe EVP_PKEY_derive_set_peer_ex(operation.raw, key.raw, 0), "EVP_PKEY_derive_set_peer_ex")
    }
    let raw = unsafe operation.raw
    return try unsafe SecretBytes(
      byteCount: EllipticCurve.fieldByteCount,
      writing: { (buffer) throws(CryptoFailure) in
        var count = buffer.count
        let result = unsafe EVP_PKEY_derive(
          raw, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), &count)
        guard result == 1, count == buffer.count else { throw OpenSSLCall.failure("EVP_PKEY_derive") }
      })
  }
}
