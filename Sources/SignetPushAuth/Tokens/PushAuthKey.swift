public import SignetCrypto
import SignetJOSE
public import SignetJSON

/// The shared secret of a push mechanism, made ready: it signs and verifies tokens (HS256), and answers challenges.
///
/// Server and device have the same; what tells their tokens apart is what they claim.
public struct PushAuthKey: Sendable {
  /// The shortest secret with which a device enrols, in bytes: 128 bits.
  ///
  /// Existing servers give 32, for which RFC 7518 section 3.2 asks; messages under shorter ones are still verified.
  public static let shortestEnrolledByteCount = 16

  private let key: HMACKey
  private let signing: SigningKey
  private let verification: VerificationKey

  /// Prepares a secret; it is not needed afterwards.
  ///
  /// - Parameters:
  ///   - secret: The shared secret.
  ///   - least: The fewest bytes that it may have; 1 at least.
  /// - Throws: ``PushAuthFailure/weakSecret(byteCount:least:)``.
  public init(_ secret: borrowing SecretBytes, atLeast least: Int = 1) throws(PushAuthFailure) {
    guard secret.byteCount >= max(least, 1) else {
      throw .weakSecret(byteCount: secret.byteCount, least: max(least, 1))
    }
    key = HMACKey(secret, .sha256)
    (signing, verification) = (SigningKey(hs256: key), VerificationKey(hs256: key))
  }

  /// The response to a challenge: HMAC-SHA256 of its bytes under the secret.
  ///
  /// - Parameter challenge: The decoded bytes.
  /// - Returns: Base64 in the standard alphabet with padding, as it stands in the claim `response`.
  public func response(to challenge: [UInt8]) -> String {
    Base64.encode(key.authenticationCode(for: challenge))
  }

  /// Whether a text is the response to a challenge; the comparison takes constant time.
  ///
  /// - Parameters:
  ///   - response: Base64 in either alphabet, with or without padding.
  ///   - challenge: The decoded bytes.
  /// - Returns: Whether it is.
  public func isResponse(_ response: String, to challenge: [UInt8]) -> Bool {
    guard let code = Base64.decodeLeniently(response) else { return false }
    return key.isValid(code, for: challenge)
  }

  /// A compact token with these claims: JWS with `alg` HS256 and `typ` JWT.
  ///
  /// - Parameter claims: The payload.
  /// - Returns: Three base64url parts with dots between them.
  public func sign(_ claims: JSONObject) -> String {
    do {
      return try JWS.sign(claims.bytes, with: signing, type: "JWT")
    } catch { preconditionFailure("an HMAC cannot fail") }
  }

  /// The claims of a token, once its signature was found to fit.
  ///
  /// HS256 is the only algorithm, whatever the header says; the codes are compared in constant time.
  ///
  /// - Parameter token: A compact JWS.
  /// - Returns: The claims.
  /// - Throws: ``PushAuthFailure/token(_:)``, ``PushAuthFailure/malformed(reason:)`` for a payload that is no JSON object.
  public func claims(of token: String) throws(PushAuthFailure) -> JSONObject {
    let verified: VerifiedJWS
    do throws(JOSEFailure) {
      verified = try JWS(compact: token, maximumByteCount: PushAuthDelivery.maximumTokenByteCount)
        .verified(with: verification, allowing: [.hs256])
    } catch { throw .token(error) }
    do throws(JSONFailure) { return try JSONObject(parsing: verified.payload) } catch {
      throw .malformed(reason: "has claims that are no JSON object")
    }
  }
}
