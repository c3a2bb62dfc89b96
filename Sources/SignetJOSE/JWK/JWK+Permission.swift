import SignetCrypto

extension JWK {
  /// Rejects a key whose `use` or `key_ops` excludes this use (RFC 7517 sections 4.2, 4.3).
  func require(_ expectedUse: Use, anyOf names: Set<String>) throws(JOSEFailure) {
    if let use, use != expectedUse { throw .keyNotPermitted }
    if let operations, operations.isDisjoint(with: names) { throw .keyNotPermitted }
  }

  /// Returns the algorithms that `alg` permits; throws if `alg` is not among them.
  func permitted(
    _ algorithms: Set<SignatureAlgorithm>
  ) throws(JOSEFailure) -> Set<SignatureAlgorithm> {
    guard let algorithm else { return algorithms }
    guard let only = SignatureAlgorithm(name: algorithm), algorithms.contains(only) else {
      throw .keyNotPermitted
    }
    return [only]
  }

  /// Returns the HMAC algorithms that `alg` and the key's length permit.
  func permittedHMAC(_ box: SharedSecretBox) throws(JOSEFailure) -> Set<SignatureAlgorithm> {
    let byName = try permitted(SignatureAlgorithm.hmac)
    let byLength = SignatureAlgorithm.hmac(keyByteCount: box.withSecret { $0.byteCount })
    let allowed = byName.intersection(byLength)
    guard !allowed.isEmpty else { throw .weakKey }
    return allowed
  }
}
