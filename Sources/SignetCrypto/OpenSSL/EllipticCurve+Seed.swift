import COpenSSL

extension EllipticCurve {
  /// Derives the private scalar of a seed: the seed as a number, modulo the order minus one, plus one.
  ///
  /// Every seed has a scalar. If the seed has at least 64 bits more than the order, a uniform seed gives a scalar that is
  /// indistinguishable from uniform (FIPS 186-5 appendix A.2.1). The corresponding C function is `BN_div`, in constant time.
  func scalar(ofSeed seed: Span<UInt8>) throws(CryptoFailure) -> SecretBytes {
    let scalar = try remainder(of: BigNumber(bigEndian: seed))
    try OpenSSLCall.check(unsafe BN_add_word(scalar.raw, 1), "BN_add_word")
    return try scalar.secretBytes(byteCount: Self.fieldByteCount)
  }

  /// Returns the seed that gives `scalar` and lies in the same interval of consecutive seeds, one per scalar, as `random`.
  ///
  /// If `random` is uniform, the result is uniform among all seeds of the scalar.
  ///
  /// - Returns: The seed; `nil` in the last interval, which is incomplete: try again with other randomness. The probability
  ///   is 2^-128.
  func seed(giving scalar: Span<UInt8>, near random: Span<UInt8>) throws(CryptoFailure) -> SecretBytes? {
    let seed = try BigNumber(bigEndian: random)
    let rest = try remainder(of: seed)
    let residue = try BigNumber(bigEndian: scalar)
    try OpenSSLCall.check(unsafe BN_sub_word(residue.raw, 1), "BN_sub_word")
    try OpenSSLCall.check(unsafe BN_sub(seed.raw, seed.raw, rest.raw), "BN_sub")
    try OpenSSLCall.check(unsafe BN_add(seed.raw, seed.raw, residue.raw), "BN_add")
    guard unsafe BN_num_bits(seed.raw) <= Int32(random.count * 8) else { return nil }
    return try seed.secretBytes(byteCount: random.count)
  }

  private func remainder(of number: borrowing BigNumber) throws(CryptoFailure) -> BigNumber {
    guard let context = unsafe BN_CTX_secure_new() else { throw .outOfMemory }
    defer { unsafe BN_CTX_free(context) }
    let modulus = try BigNumber(bigEndian: [0].span)
    guard unsafe BN_copy(modulus.raw, order) != nil else { throw .outOfMemory }
    try OpenSSLCall.check(unsafe BN_sub_word(modulus.raw, 1), "BN_sub_word")
    let rest = try BigNumber(bigEndian: [0].span)
    try OpenSSLCall.check(unsafe BN_div(nil, rest.raw, number.raw, modulus.raw, context), "BN_div")
    return rest
  }
}
