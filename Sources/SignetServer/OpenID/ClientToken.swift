import SignetJOSE
import SignetJSON
import SignetStorage

/// A JWT that a client signed with its own key: an assertion, a request or a hint.
struct ClientToken: Sendable {
  /// The largest size of a token, in bytes.
  static let maximumByteCount = 16_384
  /// The longest time until a token's `exp`, in seconds.
  static let longestLifetime: Int64 = 3_600
  /// The largest clock difference between client and server, in seconds.
  static let leeway: Int64 = 30

  private let jws: JWS

  /// Parses a token without verifying it.
  ///
  /// - Throws: `JOSEFailure`.
  init(_ text: String) throws(JOSEFailure) {
    jws = try JWS(compact: text, maximumByteCount: Self.maximumByteCount)
  }

  /// The unverified `sub` of the token, which anyone may have written.
  var unverifiedSubject: String? {
    do { return try JSONObject(parsing: jws.unverifiedPayload).optionalString("sub") } catch { return nil }
  }

  /// Verifies the token's signature, issuer, audience and times, and returns its claims.
  ///
  /// - Parameters:
  ///   - client: The client that must have signed it.
  ///   - algorithms: The allowed signature algorithms.
  ///   - audiences: The names of this server that `aud` may contain.
  ///   - types: The allowed values of `typ`, if it is present.
  ///   - now: The time, in seconds since 1970.
  /// - Returns: The claims.
  /// - Throws: `JOSEFailure`.
  func claims(
    of client: ClientRecord, signedWith algorithms: [SignatureAlgorithm], for audiences: [String],
    types: [String], now: Int64
  ) throws(JOSEFailure) -> JWTClaims {
    guard let keySet = client.keySet else { throw .keyNotFound }
    let keys = VerificationKeySet(try JWKSet(parsing: keySet))
    let verified = try jws.verified(with: keys, allowing: Set(algorithms))
    if let type = verified.header.type {
      guard type.utf8.count <= 64, types.contains(type.lowercased()) else { throw .wrongType }
    }
    let claims = try verified.claims(
      JWTValidation(issuer: client.id.text, audiences: audiences, leewaySeconds: Self.leeway), now: now)
    // Another recipient could replay a token that has several audiences.
    guard claims.audiences.count == 1 else { throw .wrongAudience }
    guard let end = claims.expiresAt, end <= Double(now + Self.longestLifetime + Self.leeway) else {
      throw .tooOld
    }
    return claims
  }
}

extension JWTClaims {
  /// The time after which the server rejects the token, in whole seconds, including the leeway.
  var end: Int64 { Int64(clamping: Int((expiresAt ?? 0).rounded(.up))) + ClientToken.leeway + 1 }
}
