extension P256 {
  /// The bytes of a seed: 128 bits more than a scalar has.
  public static let seedByteCount = 48
}

extension P256.PrivateKey {
  /// Takes a seed, of which every one gives a key: 48 bytes, big-endian, modulo the order less one, plus one.
  ///
  /// FIPS 186-5 appendix A.2.1 makes keys in this way from random bits. Since no seed is refused, a seed that was decrypted
  /// under a wrong key looks like any other.
  ///
  /// - Throws: ``CryptoFailure/invalidPrivateKey`` for another length.
  public init(seed: borrowing SecretBytes) throws(CryptoFailure) {
    guard seed.byteCount == P256.seedByteCount else { throw .invalidPrivateKey }
    try self.init(
      rawRepresentation: seed.withUInt8Span { (seed) throws(CryptoFailure) in
        try EllipticCurve.p256.scalar(ofSeed: seed)
      })
  }

  /// A random one of the 2^128 seeds that give this key; a uniform key has a uniform seed.
  ///
  /// - Throws: ``CryptoFailure/library(function:code:)`` when memory fails.
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
