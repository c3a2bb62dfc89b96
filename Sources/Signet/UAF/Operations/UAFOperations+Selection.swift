import SignetUAF

extension UAFOperations {
  /// Has the person choose an authenticator, and says which one it is.
  ///
  /// - Throws: ``UAFClientError/noSuitableAuthenticator`` where all, or the one that was chosen, are of no use.
  func selected(
    _ choices: [UAFAuthenticatorChoice], for account: UAFAccount, _ transaction: UAFTransactionContent?
  ) async throws(UAFOperationFailure) -> String {
    let question = UAFAuthenticatorSelection(account: account, choices: choices, transaction: transaction)
    let aaid: String = try await asked { interaction, answer in
      await interaction.selectAuthenticator(question, answer: answer)
    }
    let chosen = choices.first { $0.authenticator.isModel(aaid) && $0.obstacle == nil }
    guard let chosen else { throw .fido(.noSuitableAuthenticator) }
    return chosen.authenticator.aaid
  }

  /// Asks one question.
  func asked<Value: Sendable>(
    _ put: @escaping @Sendable (any UAFInteraction, UAFAnswer<Value>) async -> Void
  ) async throws(UAFOperationFailure) -> Value {
    do throws(UAFClientError) { return try await conversation.ask(put) } catch { throw .fido(error) }
  }
}

extension UAFAuthenticatorChoice {
  /// What a policy makes of an authenticator.
  init(_ candidate: UAFCandidate, isRegistration: Bool, for username: String) {
    let authenticator = candidate.authenticator
    let obstacle: Obstacle? =
      if !authenticator.isSupportedByHardware {
        .notSupportedByHardware
      } else if !authenticator.isEnrolledInSystem {
        .notEnrolled
      } else if !isRegistration, candidate.key == nil {
        .notRegistered
      } else if !candidate.isPolicyCompliant {
        isRegistration && authenticator.isRegistered(username) ? .alreadyRegistered : .notAccepted
      } else {
        candidate.isUsable ? nil : .notAccepted
      }
    self.init(
      authenticator: authenticator, isPolicyCompliant: candidate.isPolicyCompliant, obstacle: obstacle)
  }
}
