import SignetCrypto
public import SignetInterchange
public import SignetOATH
import SignetProtocol
import SignetVault

extension Device {
  /// Computes the container's current one-time code; no network is used.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - authentication: The credential of the one-time password key; `nil` if the device opens it alone.
  /// - Returns: The code and its validity.
  /// - Throws: ``SignetError/accountLocked(_:)``, ``SignetError/codesNotAccepted(reason:)``,
  ///   ``SignetError/wrongPassword(remaining:)``, ``SignetError/passwordRequired``, ``SignetError/lockedOut``.
  public func oneTimePassword(
    for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> TimedCode {
    try await requireUnlocked(container, forCode: true)
    let unlocked = try await unlock(container, key: .oneTimePassword, by: authentication)
    try await requireStillUnlocked(container)
    let secret = try unlocked.secret(VaultLayout.otpSecret)
    do { return try container.profile.totp.generator(secret: secret).code(at: clock.now) } catch {
      // The protocol derives 32 bytes and checks the parameters, so the only possible cause is a clock before 1970.
      throw .vault(.damaged)
    }
  }

  /// Returns the one-time password key of a container as an account, for another authenticator.
  ///
  /// - Parameters:
  ///   - container: The container with the key.
  ///   - authentication: The credential of the key; `nil` if the device opens it alone.
  /// - Returns: The account, with the server as issuer and the user as name.
  /// - Throws: ``SignetError/notExportable`` unless the server's profile allows it, or the failure to open the key.
  public func exportedAccount(
    of container: Container, by authentication: Authentication? = nil
  ) async throws(SignetError) -> OTPAccount {
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
