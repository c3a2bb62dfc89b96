public import SignetCrypto
import SignetJOSE
public import SignetJSON

/// The prepared shared secret of a push mechanism: it signs and verifies tokens (HS256) and responds to challenges.
///
/// Server and device have the same secret; only the claims distinguish their tokens.
public struct PushAuthKey: Sendable {
  /// The shortest secret for an enrolment, in bytes: 128 bits.
  ///
  /// Existing servers issue 32 bytes, as RFC 7518 section 3.2 requires. Messages under shorter secrets are still verified.
  public static let shortestEnrolledByteCount = 16

  private let key: HMACKey
  private let signing: SigningKey
  private let verification: VerificationKey

  /// Prepares a secret, which the caller may wipe afterwards.
  ///
  /// - Parameters:
  ///   - secret: The shared secret.
  ///   - minimum: The shortest accepted length, in bytes; at least 1.
  /// - Throws: ``PushAuthFailure/weakSecret(byteCount:least:)`` if the secret is shorter.
  public init(_ secret: borrowing SecretBytes, atLeast minimum: Int = 1) throws(PushAuthFailure) {
    guard secret.byteCount >= max(minimum, 1) else {
      throw .weakSecret(byteCount: secret.byteCount, least: max(minimum, 1))
    }
    key = HMACKey(secret, .sha256)
    (signing, verification) = (SigningKey(hs256: key), VerificationKey(hs256: key))
  }

  /// Computes the response to a challenge: HMAC-SHA256 of its bytes.
  ///
  /// - Parameter challenge: The decoded challenge.
  /// - Returns: Base64 in the standard alphabet with padding, the value of the claim `response`.
  public func response(to challenge: [UInt8]) -> String {
    Base64.encode(key.authenticationCode(for: challenge))
  }

  /// Verifies the response to a challenge in constant time.
  ///
  /// - Parameters:
  ///   - response: Base64 in either alphabet, with or without padding.
  ///   - challenge: The decoded challenge.
  /// - Returns: True if the response is right.
  public func isResponse(_ response: String, to challenge: [UInt8]) -> Bool {
    guard let code = Base64.decodeLeniently(response) else { return false }
    return key.isValid(code, for: challenge)
  }

  /// Signs claims as a compact token: a JWS with `alg` HS256 and `typ` JWT.
  ///
  /// - Parameter claims: The payload.
  /// - Returns: Three base64url parts with dots between them.
  public func sign(_ claims: JSONObject) -> String {
    do {
      return try JWS.sign(claims.bytes, with: signing, type: "JWT")
    } catch { preconditionFailure("an HMAC cannot fail") }
  }

  /// Verifies a token and returns its claims.
  ///
  /// HS256 is the only accepted algorithm, regardless of the header. MACs are compared in constant time.
  ///
  /// - Parameter token: A compact JWS.
  /// - Returns: The verified claims.
  /// - Throws: ``PushAuthFailure/token(_:)``, ``PushAuthFailure/malformed(reason:)`` for a payload that is no JSON object.
  public func claims(of token: String) throws(PushAuthFailure) -> JSONObject {
    let verified: VerifiedJWS
    do throws(JOSEFailure) {
      verified = try JWS(compact: token, maximumByteCount: PushAuthDelivery.maximumTokenByteCount)
        .verified(with: verification, allowing: [.hs256])
    } catch { throw .token(error) }
    do throws(JSONFailure) { return try JSONObject(parsing: verified.payload) } catch {
      throw .malformed(reason: "has claims that are not a JSON object")
    }
  }
}
