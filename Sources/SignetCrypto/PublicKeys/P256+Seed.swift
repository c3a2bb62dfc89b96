extension P256 {
  /// The length of a seed, in bytes: 128 bits more than a scalar.
  public static let seedByteCount = 48
}

extension P256.PrivateKey {
  /// Derives a key from a seed of 48 bytes: big-endian, modulo the order minus one, plus one.
  ///
  /// FIPS 186-5 appendix A.2.1 derives keys from random bits in this way. No seed is invalid, so a seed decrypted under a
  /// wrong key is indistinguishable from the right one.
  ///
  /// - Throws: ``CryptoFailure/invalidPrivateKey`` for another length.
  public init(seed: borrowing SecretBytes) throws(CryptoFailure) {
    guard seed.byteCount == P256.seedByteCount else { throw .invalidPrivateKey }
    try self.init(
      rawRepresentation: seed.withUInt8Span { (seed) throws(CryptoFailure) in
        try EllipticCurve.p256.scalar(ofSeed: seed)
      })
  }

  /// Returns a random one of the 2^128 seeds of this key; for a uniform key the seed is uniform.
  ///
  /// - Throws: ``CryptoFailure/library(function:code:)`` if memory runs out.
  public func randomSeed() throws(CryptoFailure) -> SecretBytes {
    let scalar = rawRepresentation
    while true {
      let random = SecretBytes.random(byteCount: P256.seedByteCount)
      let seed = try scalar.withUInt8Span { (scalar) throws(CryptoFailure) in
        try random.withUInt8Span { (random) throws(CryptoFailure) in
          try EllipticCurve.p256.seed(giving: scalar, near: random)
        }
      }
      if let seed { return seed }
    }
  }
}
