import SignetCrypto
import SignetInterchange
import SignetJSON
import SignetOATH
import SignetProtocol
import SignetStorage

/// One-time codes that an app receives in the URI of its push mechanism: the user's token, and its part of the URI.
///
/// The server creates the secret, as it does for the push mechanism, since these apps support no key agreement.
struct PushAuthCodes: Sendable {
  let record: CredentialRecord
  /// The part of the URI.
  let uri: AuthenticatorURI.OATH

  /// Creates one-time codes.
  ///
  /// - Parameters:
  ///   - form: `kind`, and optional values for `algorithm`, `digits` and `period`.
  ///   - user: The user.
  ///   - mechanism: The id of the push mechanism.
  ///   - context: The context of the services.
  /// - Throws: ``Problem/Code/malformed``.
  init(
    _ form: NewPushApp.Codes, of user: UserID, beside mechanism: ID<PushAuthMechanismRecord>,
    _ context: ServiceContext
  ) throws {
    let (kind, algorithm) = (form.kind, form.algorithm ?? .sha1)
    let (digits, period) = (form.digits ?? 6, form.period ?? 30)
    // As long as the hash (RFC 6238 section 3).
    let secret = SecretBytes.random(byteCount: algorithm.hash.byteCount)
    uri = AuthenticatorURI.OATH(
      kind: kind == .totp ? .totp(period: Int(period)) : .hotp(counter: 0), algorithm: algorithm,
      digits: Int(digits), secret: SharedSecretBox(secret.copy()))
    record = try TokenService(context).sealed(
      TokenService.NewToken(
        serial: TokenSerial("app-\(mechanism)"), kind: kind, secret: secret, algorithm: algorithm,
        digits: Int(digits), period: Int(period), user: user))
  }
}
