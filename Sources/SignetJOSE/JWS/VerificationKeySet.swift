/// The keys of a ``JWKSet`` prepared for verification.
public struct VerificationKeySet: Sendable {
  private let keys: [VerificationKey]

  /// Prepares the keys that permit verification; the others are left out.
  public init(_ set: JWKSet) {
    keys = set.keys.compactMap { jwk in
      do throws(JOSEFailure) {
        return try VerificationKey(jwk)
      } catch {
        return nil  // not for signatures
      }
    }
  }

  /// The algorithms that at least one key of the set permits.
  public var algorithms: Set<SignatureAlgorithm> {
    keys.reduce(into: []) { $0.formUnion($1.algorithms) }
  }

  /// Returns the key that the header names; without `kid`, the only key that permits the algorithm.
  ///
  /// - Throws: ``JOSEFailure/keyNotFound`` if there is no such key.
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
