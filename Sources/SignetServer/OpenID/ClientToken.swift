import SignetJOSE
import SignetJSON
import SignetStorage

/// A JWT that a client signed with a key of its own: an assertion, a request or a hint.
struct ClientToken: Sendable {
  /// The longest text.
  static let maximumByteCount = 16_384
  /// How far away the end of a token may be, in seconds.
  static let longestLifetime: Int64 = 3_600
  /// How far the clocks of client and server may differ, in seconds.
  static let leeway: Int64 = 30

  private let jws: JWS

  /// Reads a token; nothing in it is verified.
  ///
  /// - Throws: `JOSEFailure`.
  init(_ text: String) throws(JOSEFailure) {
    jws = try JWS(compact: text, maximumByteCount: Self.maximumByteCount)
  }

  /// Who the token says it is about, which anyone may have written.
  var unverifiedSubject: String? {
    do { return try JSONObject(parsing: jws.unverifiedPayload).optionalString("sub") } catch { return nil }
  }

  /// What the token says, once it is found to be the client's, for this server, now.
  ///
  /// - Parameters:
  ///   - client: Whose token it has to be; it has keys.
  ///   - algorithms: What it may be signed with.
  ///   - audiences: What this server may be called.
  ///   - types: What `typ` may be, if it is there.
  ///   - now: In seconds since 1970.
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
    // One that is for others too could be used by them.
    guard claims.audiences.count == 1 else { throw .wrongAudience }
    guard let end = claims.expiresAt, end <= Double(now + Self.longestLifetime + Self.leeway) else {
      throw .tooOld
    }
    return claims
  }
}

extension JWTClaims {
  /// When the token can't be used any more by anybody, in whole seconds; its end was found to be near.
  var end: Int64 { Int64(clamping: Int((expiresAt ?? 0).rounded(.up))) + ClientToken.leeway + 1 }
}
