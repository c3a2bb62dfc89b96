public import SignetOATH
import SignetVault
import SignetWire

extension Device {
  /// The container's one-time code for now; no network is used.
  ///
  /// - Parameters:
  ///   - container: Whose code.
  ///   - authentication: What opens the key of the codes; `nil` where the device alone does.
  /// - Returns: The code and when it is valid.
  /// - Throws: ``SignetFailure/accountLocked(_:)``, ``SignetFailure/codesNotTaken(reason:)``, ``SignetFailure/wrongPassword(remaining:)``,
  ///   ``SignetFailure/passwordRequired``, ``SignetFailure/lockedOut``.
  public func oneTimePassword(
    for container: Container, by authentication: Authentication? = nil
  ) async throws(SignetFailure) -> TimedCode {
    try await requireUnlocked(container, forCode: true)
    let unlocked = try await unlock(container, key: .oneTimePassword, by: authentication)
    try await requireStillUnlocked(container)
    let secret = try unlocked.secret(VaultLayout.otpSecret)
    do { return try container.profile.totp.generator(secret: secret).code(at: clock.now) } catch {
      // The protocol derives 32 bytes and checks the parameters, so only a clock before 1970 leads here.
      throw .vault(.damaged)
    }
  }
}
