import SignetCrypto

/// The key derivation of ECDH-ES (RFC 7518 section 4.6.2; NIST SP 800-56A section 5.8.1 with SHA-256).
enum ConcatKDF {
  /// Derives a key from the agreed X coordinate.
  ///
  /// - Parameters:
  ///   - sharedSecret: Z, 32 bytes.
  ///   - algorithm: `enc` for a key that encrypts content, `alg` for a key that wraps.
  ///   - partyUInfo: The decoded `apu`.
  ///   - partyVInfo: The decoded `apv`.
  ///   - byteCount: The length of the key, in bytes.
  /// - Returns: The derived key.
  static func derive(
    _ sharedSecret: borrowing SecretBytes, algorithm: String, partyUInfo: [UInt8], partyVInfo: [UInt8],
    byteCount: Int
  ) -> SecretBytes {
    var otherInfo: [UInt8] = []
    otherInfo.reserveCapacity(64 + partyUInfo.count + partyVInfo.count)
    appendField(algorithm.utf8, to: &otherInfo)
    appendField(partyUInfo, to: &otherInfo)
    appendField(partyVInfo, to: &otherInfo)
    appendInteger(byteCount * 8, to: &otherInfo)
    var derived = round(1, sharedSecret, otherInfo)
    while derived.byteCount < byteCount {
      let next = round(derived.byteCount / 32 + 1, sharedSecret, otherInfo)
      derived = derived.joined(with: next)
    }
    return derived.byteCount == byteCount ? derived : derived.slice(0..<byteCount)
  }

  /// Computes SHA-256 of counter, Z and other information.
  private static func round(
    _ counter: Int, _ sharedSecret: borrowing SecretBytes, _ otherInfo: [UInt8]
  ) -> SecretBytes {
    var prefix: [UInt8] = []
    appendInteger(counter, to: &prefix)
    var hash = IncrementalHash(.sha256)
    hash.update(prefix)
    sharedSecret.withBytes { hash.update($0) }
    hash.update(otherInfo)
    var digest = hash.finish()
    let secret = SecretBytes(copying: digest)
    digest.withUnsafeMutableBytes { wipe($0) }
    return secret
  }

  /// Appends the length of a field in 32 bits and then the field.
  private static func appendField(_ field: some Collection<UInt8>, to bytes: inout [UInt8]) {
    appendInteger(field.count, to: &bytes)
    bytes.append(contentsOf: field)
  }

  /// Appends 32 bits, big-endian.
  private static func appendInteger(_ value: Int, to bytes: inout [UInt8]) {
    for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}

extension SecretBytes {
  /// Copies a range of the bytes to a new secret.
  borrowing func slice(_ range: Range<Int>) -> SecretBytes {
    withBytes { SecretBytes(copying: $0.extracting(range)) }
  }
}
