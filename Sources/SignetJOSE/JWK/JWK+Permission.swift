import SignetCrypto

extension JWK {
  /// Refuses a key whose `use` or `key_ops` says that it is for something else (RFC 7517 sections 4.2, 4.3).
  func require(_ wanted: Use, anyOf names: Set<String>) throws(JOSEFailure) {
    if let use, use != wanted { throw .keyNotPermitted }
    if let operations, operations.isDisjoint(with: names) { throw .keyNotPermitted }
  }

  /// Those of the algorithms that `alg` permits; an `alg` that is not among them permits none.
  func permitted(
    _ algorithms: Set<SignatureAlgorithm>
  ) throws(JOSEFailure) -> Set<SignatureAlgorithm> {
    guard let algorithm else { return algorithms }
    guard let only = SignatureAlgorithm(name: algorithm), algorithms.contains(only) else {
      throw .keyNotPermitted
    }
    return [only]
  }

  /// The HMAC algorithms that `alg` and the length of the key permit.
  func permittedHMAC(_ box: SharedSecretBox) throws(JOSEFailure) -> Set<SignatureAlgorithm> {
    let byName = try permitted(SignatureAlgorithm.hmac)
    let byLength = SignatureAlgorithm.hmac(keyByteCount: box.withSecret { $0.byteCount })
    let both = byName.intersection(byLength)
    guard !both.isEmpty else { throw .weakKey }
    return both
  }
}
