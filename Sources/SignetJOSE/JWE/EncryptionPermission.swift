/// The permitted uses of a key in a JWE, by its type, its length and the `alg` of its JWK.
struct EncryptionPermission {
  private(set) var keyAlgorithms = KeyManagementAlgorithm.keyAgreement
  /// The algorithms for which a shared key can be the content key; a wrapped or agreed content key always has the right
  /// length.
  private(set) var contentAlgorithms = Set(ContentEncryptionAlgorithm.allCases)

  /// The permissions of a key on a curve without `alg`.
  init() {}

  /// Determines the permissions of a key on a curve.
  init(agreeingWith name: String?) throws(JOSEFailure) {
    guard let name else { return }
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

  /// Returns true if the key may be used with these algorithms.
  func permits(_ algorithm: KeyManagementAlgorithm, _ encryption: ContentEncryptionAlgorithm) -> Bool {
    keyAlgorithms.contains(algorithm) && (algorithm != .direct || contentAlgorithms.contains(encryption))
  }
}
