/// The permitted uses of a key in a JWE, by its type, its length and the `alg` of its JWK.
struct EncryptionPermission {
  let keyAlgorithms: Set<KeyManagementAlgorithm>
  /// The algorithms for which a shared key can be the content key; a wrapped or agreed content key always has the right
  /// length.
  let contentAlgorithms: Set<ContentEncryptionAlgorithm>

  /// Determines the permissions of a key on a curve.
  init(agreeingWith name: String?) throws(JOSEFailure) {
    contentAlgorithms = Set(ContentEncryptionAlgorithm.allCases)
    guard let name else {
      keyAlgorithms = KeyManagementAlgorithm.keyAgreement
      return
    }
    guard let only = KeyManagementAlgorithm(name: name), KeyManagementAlgorithm.keyAgreement.contains(only)
    else {
      throw .keyNotPermitted
    }
    keyAlgorithms = [only]
  }

  /// Determines the permissions of a shared key.
  ///
  /// Its `alg` is `dir`, an algorithm that wraps, or the `enc` for which it is used directly (as in RFC 7520 section 5.6.1).
  init(sharedKeyByteCount byteCount: Int, algorithm name: String?) throws(JOSEFailure) {
    var wrapping = KeyManagementAlgorithm.keyWrapping.filter { $0.wrappingKeyByteCount == byteCount }
    var content = Set(ContentEncryptionAlgorithm.allCases).filter { $0.keyByteCount == byteCount }
    if let name {
      if let only = ContentEncryptionAlgorithm(name: name) {
        (wrapping, content) = ([], content.intersection([only]))
      } else if let only = KeyManagementAlgorithm(name: name) {
        (wrapping, content) = only == .direct ? ([], content) : (wrapping.intersection([only]), [])
      } else {
        throw .keyNotPermitted
      }
    }
    guard !wrapping.isEmpty || !content.isEmpty else { throw .keyNotPermitted }
    keyAlgorithms = content.isEmpty ? wrapping : wrapping.union([.direct])
    contentAlgorithms = content
  }

  static func permits(
    _ algorithm: KeyManagementAlgorithm, _ encryption: ContentEncryptionAlgorithm,
    _ keyAlgorithms: Set<KeyManagementAlgorithm>, _ contentAlgorithms: Set<ContentEncryptionAlgorithm>
  ) -> Bool {
    keyAlgorithms.contains(algorithm) && (algorithm != .direct || contentAlgorithms.contains(encryption))
  }
}
