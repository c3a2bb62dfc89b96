/// The keys of a ``JWKSet`` made ready to verify.
public struct VerificationKeySet: Sendable {
  private let keys: [VerificationKey]

  /// Makes ready those keys that may verify; the others are left out.
  public init(_ set: JWKSet) {
    keys = set.keys.compactMap { jwk in
      do throws(JOSEFailure) {
        return try VerificationKey(jwk)
      } catch {
        return nil  // not for signatures
      }
    }
  }

  /// The algorithms that some key of the set permits.
  public var algorithms: Set<SignatureAlgorithm> {
    keys.reduce(into: []) { $0.formUnion($1.algorithms) }
  }

  /// The key that the header names; without a `kid`, the only one that permits the algorithm.
  ///
  /// - Throws: ``JOSEFailure/keyNotFound``.
  func key(
    for header: JOSEHeader, _ algorithm: SignatureAlgorithm
  ) throws(JOSEFailure) -> VerificationKey {
    if let keyID = header.keyID {
      guard let key = keys.first(where: { $0.keyID == keyID }) else { throw .keyNotFound }
      return key
    }
    let candidates = keys.filter { $0.algorithms.contains(algorithm) }
    guard let key = candidates.first, candidates.count == 1 else { throw .keyNotFound }
    return key
  }
}
