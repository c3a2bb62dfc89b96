import SignetCrypto
public import SignetOATH
import SignetWire

extension Device {
  /// The one-time password key of a container as an account, to be written for another authenticator.
  ///
  /// - Parameters:
  ///   - container: Whose key.
  ///   - authentication: What opens the key; `nil` where the device alone does.
  /// - Returns: The account: the server is its issuer, and the user its name.
  /// - Throws: ``SignetFailure/notExportable`` unless the server's profile allows it, and what opening the key throws.
  public func exportedAccount(
    of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> OTPAccount {
    guard container.profile.isOTPExportable else { throw .notExportable }
    try await requireUnlocked(container)
    let unlocked = try await unlock(container, key: .oneTimePassword, by: authentication)
    try await requireStillUnlocked(container)
    let secret = SharedSecretBox(try unlocked.secret(VaultLayout.otpSecret))
    let totp = container.profile.totp
    do {
      return try OTPAccount(
        issuer: container.server.shortForm, name: container.user.text, kind: .totp(period: totp.period),
        algorithm: totp.algorithm, digits: totp.digits, secret: secret)
    } catch { throw .interchange(error) }
  }
}
