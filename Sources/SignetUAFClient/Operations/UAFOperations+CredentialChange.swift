import SignetCrypto
import SignetPolicy
import SignetUAF

extension UAFOperations {
  /// Lets a user change their PIN; no server is involved.
  ///
  /// - Parameter username: The user's name.
  /// - Throws: ``SignetError``: `USER_LOCKOUT`, `USER_NOT_ENROLLED`, `USER_CANCELLED`, `USER_NOT_RESPONSIVE`.
  public func changePIN(of username: String) async throws(SignetError) {
    do { try await change(.pin, of: username) } catch {
      throw UAFOperationFailure(thrown: error).signetError
    }
  }

  /// Lets a user change their password; no server is involved.
  ///
  /// - Parameter username: The user's name.
  /// - Throws: ``SignetError``: `USER_LOCKOUT`, `USER_NOT_ENROLLED`, `USER_CANCELLED`, `USER_NOT_RESPONSIVE`.
  public func changePassword(of username: String) async throws(SignetError) {
    do { try await change(.password, of: username) } catch {
      throw UAFOperationFailure(thrown: error).signetError
    }
  }

  private func change(
    _ kind: UAFAuthenticator.Kind, of username: String
  ) async throws {
    let authenticators = try await client.authenticators()
    let found = authenticators.lazy.filter { $0.kind == kind }.compactMap { authenticator in
      authenticator.keys.last { $0.isOf(username) }.map { (authenticator, $0) }
    }.first
    guard let (authenticator, key) = found else { throw UAFOperationFailure.nothingToChange }
    var status: LockStatus
    do throws(UAFFailure) {
      try await client.requireUnlocked(key.username, at: key.server)
      status = try await client.lockStatus(of: key)
    } catch { throw UAFOperationFailure(ofChange: error) }
    var last: UAFRecoverableError?
    while true {
      if status == .lockedOut { throw UAFOperationFailure.fido(.userLockout) }
      let question = UAFCredentialRequest(
        username: username, authenticator: authenticator, lastRecoverableError: last,
        protectionStatus: status)
      let typed: UAFChangedCredential = try await conversation.ask(extendedBy: status.wait) {
        interaction, answer in
        await interaction.change(question, answer: answer)
      }
      do throws(UAFRecoverableError) {
        try await interaction.check(
          typed.next, for: authenticator, isChange: true, checks: client.device.passwordChecks)
      } catch {
        last = error
        continue
      }
      do throws(UAFFailure) {
        try await client.replaceSecret(of: key, from: typed.present, to: typed.next)
        await interaction.validCredentialsProvided(by: username, to: authenticator)
        return
      } catch {
        guard let recoverable = error.recoverable else { throw UAFOperationFailure(ofChange: error) }
        last = recoverable.error
        if let next = recoverable.status { status = next }
      }
    }
  }
}

extension UAFOperationFailure {
  fileprivate static let nothingToChange = UAFOperationFailure.fido(
    .userNotEnrolled, detail: "there is nothing to change for this user on this device")

  /// Converts a failure of the UAF client to a failure to change a PIN or a password.
  fileprivate init(ofChange failure: UAFFailure) {
    switch failure {
    case .device(let error): self = .device(error)
    default:
      switch failure.clientError {
      case .userLockout, .userCancelled, .userNotResponsive: self = .fido(failure.clientError)
      default: self = .nothingToChange
      }
    }
  }
}
