import SignetCrypto
public import SignetJSON

/// The claims of a verified and validated token (RFC 7519).
public struct JWTClaims: Sendable {
  /// All claims as received.
  public let all: JSONObject
  /// The claim `iss`.
  public let issuer: String?
  /// The claim `sub`.
  public let subject: String?
  /// The claim `aud`; empty if it is absent.
  public let audiences: [String]
  /// The claim `exp`, in seconds since 1970-01-01T00:00:00Z.
  public let expiresAt: Double?
  /// The claim `nbf`, in seconds since 1970-01-01T00:00:00Z.
  public let notBefore: Double?
  /// The claim `iat`, in seconds since 1970-01-01T00:00:00Z.
  public let issuedAt: Double?
  /// The claim `jti`.
  public let tokenID: String?

  /// Parses the registered claims; ``VerifiedJWS/claims(_:now:)`` validates them.
  fileprivate init(_ payload: [UInt8]) throws(JSONFailure) {
    let object = try JSONObject(parsing: payload)
    all = object
    issuer = try object.optionalString("iss")
    subject = try object.optionalString("sub")
    tokenID = try object.optionalString("jti")
    if case .string(let audience)? = object["aud"] {
      audiences = [audience]
    } else {
      audiences = try object.optionalStrings("aud") ?? []
    }
    expiresAt = try Self.date("exp", object)
    notBefore = try Self.date("nbf", object)
    issuedAt = try Self.date("iat", object)
  }

  private static func date(_ name: String, _ object: JSONObject) throws(JSONFailure) -> Double? {
    object.contains(name) ? try object.number(name) : nil
  }
}

extension VerifiedJWS {
  /// Validates the token's claims.
  ///
  /// - Parameters:
  ///   - validation: The required claims.
  ///   - now: The current time, in seconds since 1970-01-01T00:00:00Z.
  /// - Returns: The validated claims.
  /// - Throws: ``JOSEFailure`` for malformed claims or a claim that is not accepted.
  public func claims(_ validation: JWTValidation, now: Int64) throws(JOSEFailure) -> JWTClaims {
    if let type = validation.type {
      guard let headerType = header.type, Self.mediaType(headerType) == Self.mediaType(type) else {
        throw .wrongType
      }
    }
    let claims: JWTClaims
    do throws(JSONFailure) {
      claims = try JWTClaims(payload)
    } catch {
      throw .malformedClaims(error)
    }
    try Self.checkTimes(of: claims, validation, Double(now))
    if let issuer = validation.issuer, !Self.isSame(claims.issuer, issuer) { throw .wrongIssuer }
    if let subject = validation.subject, !Self.isSame(claims.subject, subject) { throw .wrongSubject }
    if validation.audiences.isEmpty {
      // A recipient without a name must reject a token that has an `aud` (RFC 7519 section 4.1.3).
      guard !claims.all.contains("aud") else { throw .wrongAudience }
    } else {
      let isIntendedAudience = claims.audiences.contains { audience in
        validation.audiences.contains { Self.isSame(audience, $0) }
      }
      guard isIntendedAudience else { throw .wrongAudience }
    }
    return claims
  }

  private static func checkTimes(
    of claims: JWTClaims, _ validation: JWTValidation, _ now: Double
  ) throws(JOSEFailure) {
    let leeway = Double(validation.leewaySeconds)
    if let expiry = claims.expiresAt {
      guard now < expiry + leeway else { throw .expired }
    } else if validation.requiresExpiry {
      throw .malformedClaims(.missingMember("exp"))
    }
    if let start = claims.notBefore, now < start - leeway { throw .notYetValid }
    if let issued = claims.issuedAt {
      guard now >= issued - leeway else { throw .issuedInFuture }
      if let age = validation.maximumAgeSeconds, now > issued + Double(age) + leeway { throw .tooOld }
    } else if validation.maximumAgeSeconds != nil {
      throw .malformedClaims(.missingMember("iat"))
    }
  }

  /// Normalizes a media type: lower case, and without `application/` before a single name (RFC 7515 section 4.1.9).
  private static func mediaType(_ text: String) -> String {
    let lowered = text.lowercased()
    let name = lowered.dropFirst("application/".count)
    return lowered.hasPrefix("application/") && !name.contains("/") ? String(name) : lowered
  }

  /// Compares code points (RFC 7519 section 7.3), not canonically equivalent texts.
  private static func isSame(_ claim: String?, _ expected: String) -> Bool {
    claim?.utf8.elementsEqual(expected.utf8) ?? false
  }
}
