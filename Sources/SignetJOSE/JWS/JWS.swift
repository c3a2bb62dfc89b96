/// A compact JWS as it arrived (RFC 7515 section 7.1): well-formed, but not verified.
///
/// Only ``verified(with:allowing:)`` creates a ``VerifiedJWS``, whose payload can be trusted.
public struct JWS: Sendable {
  /// The protected header, which is not authenticated yet.
  public let header: JOSEHeader
  /// The payload before verification: use it only to find the key.
  public let unverifiedPayload: [UInt8]
  private let signingInput: [UInt8]
  private let signature: [UInt8]

  /// The default limit for a compact serialization, in bytes.
  public static let standardLimit = 65_536

  /// Parses a compact serialization.
  ///
  /// - Parameters:
  ///   - compact: Three base64url parts with dots between them.
  ///   - maximumByteCount: The longest accepted text, in bytes.
  /// - Throws: ``JOSEFailure`` for a malformed object, and for `crit` and `b64`.
  public init(
    compact: String, maximumByteCount: Int = JWS.standardLimit
  ) throws(JOSEFailure) {
    let segments = try CompactSegments(compact, count: 3, limit: maximumByteCount)
    header = try JOSEHeader(parsing: try segments.decoded(0, .header))
    unverifiedPayload = try segments.decoded(1, .payload)
    signature = try segments.decoded(2, .signature)
    signingInput = segments.through(1)
  }

  /// Verifies with a key that the caller chose; the header's `kid` is ignored.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - algorithms: The accepted algorithms; the message cannot extend them.
  /// - Returns: The verified JWS.
  /// - Throws: ``JOSEFailure`` if the algorithm is not allowed or the signature does not verify.
  public func verified(
    with key: VerificationKey, allowing algorithms: Set<SignatureAlgorithm>
  ) throws(JOSEFailure) -> VerifiedJWS {
    try verified(with: key, try allowedAlgorithm(algorithms))
  }

  /// Verifies with the key of the set that `kid` names, or without `kid` with the only suitable key.
  ///
  /// - Parameters:
  ///   - keys: The trusted keys.
  ///   - algorithms: The accepted algorithms; the message cannot extend them.
  /// - Returns: The verified JWS.
  /// - Throws: ``JOSEFailure`` if there is no such key, the algorithm is not allowed or the signature does not verify.
  public func verified(
    with keys: VerificationKeySet, allowing algorithms: Set<SignatureAlgorithm>
  ) throws(JOSEFailure) -> VerifiedJWS {
    let algorithm = try allowedAlgorithm(algorithms)
    return try verified(with: try keys.key(for: header, algorithm), algorithm)
  }

  private func allowedAlgorithm(
    _ algorithms: Set<SignatureAlgorithm>
  ) throws(JOSEFailure) -> SignatureAlgorithm {
    guard let algorithm = SignatureAlgorithm(name: header.algorithm) else {
      throw header.algorithm.utf8.elementsEqual("none".utf8) ? .unsecured : .unsupportedAlgorithm
    }
    guard algorithms.contains(algorithm) else { throw .algorithmNotAllowed }
    return algorithm
  }

  private func verified(
    with key: VerificationKey, _ algorithm: SignatureAlgorithm
  ) throws(JOSEFailure) -> VerifiedJWS {
    guard key.algorithms.contains(algorithm) else { throw .keyNotPermitted }
    guard !signature.isEmpty else { throw .emptySignature }
    guard key.isValid(signature, for: signingInput, algorithm) else { throw .invalidSignature }
    return VerifiedJWS(
      header: header, payload: unverifiedPayload, algorithm: algorithm, keyID: key.keyID)
  }
}

/// A JWS whose signature or MAC verified with a key that the caller trusts.
public struct VerifiedJWS: Sendable {
  /// The protected header.
  public let header: JOSEHeader
  /// The payload.
  public let payload: [UInt8]
  /// The algorithm of the signature or MAC.
  public let algorithm: SignatureAlgorithm
  /// The `kid` of the key that verified it, from the key itself.
  public let keyID: String?

  fileprivate init(header: JOSEHeader, payload: [UInt8], algorithm: SignatureAlgorithm, keyID: String?) {
    self.header = header
    self.payload = payload
    self.algorithm = algorithm
    self.keyID = keyID
  }
}
