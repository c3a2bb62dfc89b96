import SignetUAF

extension UAFOperations {
  /// Lets the user select an authenticator and returns its AAID.
  ///
  /// - Throws: ``UAFClientError/noSuitableAuthenticator`` if the selected authenticator cannot be used.
  func selected(
    _ choices: [UAFAuthenticatorChoice], for account: UAFAccount, _ transaction: UAFTransactionContent?
  ) async throws -> String {
    let question = UAFAuthenticatorSelection(account: account, choices: choices, transaction: transaction)
    let aaid: String = try await prompt { interaction, answer in
      await interaction.selectAuthenticator(question, answer: answer)
    }
    let chosen = choices.first { $0.authenticator.isModel(aaid) && $0.obstacle == nil }
    guard let chosen else { throw UAFOperationFailure.fido(.noSuitableAuthenticator) }
    return chosen.authenticator.aaid
  }

  /// Asks one question.
  func prompt<Value: Sendable>(
    _ show: @escaping @Sendable (any UAFInteraction, UAFAnswer<Value>) async -> Void
  ) async throws(UAFClientError) -> Value { try await conversation.ask(show) }
}

extension UAFAuthenticatorChoice {
  /// Creates a choice from a candidate and derives its obstacle.
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
