import SignetCrypto
import SignetPolicy
import SignetUAF

/// A reason why a PIN or a password was not changed.
@nonexhaustive public enum UAFCredentialChangeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The PIN or password is locked for good after too many failed attempts.
  case locked
  /// The user has no PIN or password on this device.
  case notEnrolled
  /// The user cancelled.
  case userCancelled
  /// The user did not answer in time.
  case userNotResponsive
  /// The vault of this device could not be read or written.
  case device(SignetFailure)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .locked: UAFClientError.userLockout.meaning
    case .notEnrolled: "there is nothing to change for this user on this device"
    case .userCancelled: UAFClientError.userCancelled.meaning
    case .userNotResponsive: UAFClientError.userNotResponsive.meaning
    case .device(let failure): failure.description
    }
  }
}

extension UAFOperations {
  /// Lets a user change their PIN; no server is involved.
  ///
  /// - Parameter username: The user's name.
  /// - Throws: ``UAFCredentialChangeFailure``.
  public func changePIN(of username: String) async throws(UAFCredentialChangeFailure) {
    try await change(.pin, of: username)
  }

  /// Lets a user change their password; no server is involved.
  ///
  /// - Parameter username: The user's name.
  /// - Throws: ``UAFCredentialChangeFailure``.
  public func changePassword(of username: String) async throws(UAFCredentialChangeFailure) {
    try await change(.password, of: username)
  }

  private func change(
    _ kind: UAFAuthenticator.Kind, of username: String
  ) async throws(UAFCredentialChangeFailure) {
    let (authenticator, key): (UAFAuthenticator, UAFKey)
    var status: LockStatus
    do throws(UAFFailure) {
      let found = try await client.authenticators().lazy.filter { $0.kind == kind }.compactMap {
        authenticator in
        authenticator.keys.last { $0.isOf(username) }
          .map { (authenticator, $0) }
      }.first
      guard let found else { throw .protocol(.userNotEnrolled, "there is nothing to change") }
      (authenticator, key) = found
      try await client.requireUnlocked(key.username, at: key.server)
      status = try await client.protectionStatus(of: key)
    } catch { throw UAFCredentialChangeFailure(error) }
    var last: UAFRecoverableError?
    while true {
      if status == .lockedOut { throw .locked }
      let question = UAFCredentialRequest(
        username: username, authenticator: authenticator, lastRecoverableError: last,
        protectionStatus: status)
      let typed: UAFChangedCredential
      do throws(UAFClientError) {
        typed = try await conversation.ask(extendedBy: status.wait) { interaction, answer in
          await interaction.change(question, answer: answer)
        }
      } catch { throw error == .userCancelled ? .userCancelled : .userNotResponsive }
      do throws(UAFRecoverableError) {
        try await interaction.check(
          typed.next, for: authenticator, isChange: true, checks: client.device.passwordChecks)
      } catch {
        last = error
        continue
      }
      do throws(UAFFailure) {
        try await client.changeSecret(of: key, from: typed.present, to: typed.next)
        await interaction.validCredentialsProvided(by: username, to: authenticator)
        return
      } catch {
        guard let recoverable = error.recoverable else { throw UAFCredentialChangeFailure(error) }
        last = recoverable.error
        if let next = recoverable.status { status = next }
      }
    }
  }
}

extension UAFCredentialChangeFailure {
  init(_ failure: UAFFailure) {
    switch failure {
    case .device(let failure): self = .device(failure)
    default:
      switch failure.clientError {
      case .userLockout: self = .locked
      case .userCancelled: self = .userCancelled
      case .userNotResponsive: self = .userNotResponsive
      default: self = .notEnrolled
      }
    }
  }
}
