import SignetCrypto
import SignetPolicy
import SignetUAF

/// Asks the user for the credentials of authenticators, and asks again after a recoverable failure.
struct CredentialQuestions {
  let conversation: UAFConversation
  let username: String
  let transaction: UAFTransactionContent?
  /// Credentials already entered, by AAID; they are reused when another authenticator of the same combination must be asked again.
  private var authentications: [String: Authentication] = [:]
  private var lastErrors: [String: UAFRecoverableError] = [:]
  private var statuses: [String: LockStatus] = [:]

  init(conversation: UAFConversation, username: String, transaction: UAFTransactionContent?) {
    self.conversation = conversation
    self.username = username
    self.transaction = transaction
  }

  // MARK: Questions

  /// Asks for the credential that protects a new key: a new PIN or password that passes the policy, a biometric prompt or the passcode.
  mutating func enrolment(
    of authenticator: UAFAuthenticator
  ) async throws(UAFClientError) -> Authentication {
    if let authentication = authentications[authenticator.aaid] { return authentication }
    guard authenticator.isTyped else { return try await prompt(authenticator) }
    while true {
      let question = question(authenticator)
      let typed: SharedSecretBox = try await ask { interaction, answer in
        await interaction.enrol(question, answer: answer)
      }
      do throws(UAFRecoverableError) {
        try await conversation.interaction.check(
          typed, for: authenticator, isChange: false, checks: conversation.passwordChecks)
      } catch {
        lastErrors[authenticator.aaid] = error
        continue
      }
      authentications[authenticator.aaid] = .password(typed)
      return .password(typed)
    }
  }

  /// Asks for the credential that unlocks a key.
  ///
  /// - Parameters:
  ///   - authenticator: The authenticator.
  ///   - status: The lock status after failed attempts, used for the first question about this authenticator.
  /// - Returns: The credential, also for later calls with the same authenticator.
  /// - Throws: ``UAFClientError``.
  mutating func verification(
    by authenticator: UAFAuthenticator, _ status: LockStatus
  ) async throws(UAFClientError) -> Authentication {
    if let authentication = authentications[authenticator.aaid] { return authentication }
    guard authenticator.isTyped else { return try await prompt(authenticator) }
    if statuses[authenticator.aaid] == nil { statuses[authenticator.aaid] = status }
    let question = question(authenticator)
    let typed: SharedSecretBox = try await ask(question.protectionStatus.wait) { interaction, answer in
      await interaction.verify(question, answer: answer)
    }
    authentications[authenticator.aaid] = .password(typed)
    return .password(typed)
  }

  private mutating func prompt(
    _ authenticator: UAFAuthenticator
  ) async throws(UAFClientError) -> Authentication {
    let question = UAFPromptRequest(
      username: username, authenticator: authenticator,
      lastRecoverableError: lastErrors[authenticator.aaid], transaction: transaction)
    let authentication: Authentication
    if authenticator.kind == .devicePasscode {
      let prompt: UAFPasscodePrompt = try await ask { interaction, answer in
        await interaction.verifyPasscode(question, answer: answer)
      }
      authentication = .passcode(reason: prompt.reason, conversation: prompt.conversation)
    } else {
      let prompt: UAFBiometricPrompt = try await ask { interaction, answer in
        await interaction.verifyBiometrics(question, answer: answer)
      }
      authentication = .biometrics(reason: prompt.reason, hints: prompt.hints)
    }
    authentications[authenticator.aaid] = authentication
    return authentication
  }

  private func question(_ authenticator: UAFAuthenticator) -> UAFCredentialRequest {
    UAFCredentialRequest(
      username: username, authenticator: authenticator, lastRecoverableError: lastErrors[authenticator.aaid],
      protectionStatus: statuses[authenticator.aaid] ?? .unlocked, transaction: transaction)
  }

  private func ask<Value: Sendable>(
    _ wait: Duration = .zero,
    _ show: @escaping @Sendable (any UAFInteraction, UAFAnswer<Value>) async -> Void
  ) async throws(UAFClientError) -> Value { try await conversation.ask(extendedBy: wait, show) }

  // MARK: Results

  /// Records a recoverable failure for the next question; returns false if the user cannot recover from it.
  mutating func mayRetry(after failure: UAFFailure) -> Bool {
    guard let (aaid, error, status) = failure.recoverable else { return false }
    authentications[aaid] = nil
    lastErrors[aaid] = error
    if let status { statuses[aaid] = status }
    return true
  }

  /// Tells the app that the authenticators accepted the credentials.
  func reportSuccess(_ authenticators: [UAFAuthenticator]) async {
    for authenticator in authenticators {
      await conversation.interaction.validCredentialsProvided(by: username, to: authenticator)
    }
  }
}

extension UAFFailure {
  /// The AAID to ask again, the reason and the lock status after a failed attempt; `nil` if the failure is not recoverable.
  var recoverable: (aaid: String, error: UAFRecoverableError, status: LockStatus?)? {
    switch self {
    case .wrongSecret(let aaid, let status): (aaid, .wrongCredential, status)
    case .coolingDown(let aaid, let status): (aaid, .coolingDown, status)
    case .unusableSecret(let aaid, let problem): (aaid, UAFRecoverableError(problem), nil)
    case .notRecognised(let aaid), .wrongPasscode(let aaid): (aaid, .notRecognised, nil)
    default: nil
    }
  }
}

extension LockStatus {
  /// The wait until the next attempt is allowed; zero if none applies.
  var wait: Duration {
    if case .lastAttemptFailed(_, let wait) = self { wait } else { .zero }
  }
}

extension UAFAuthenticator {
  /// Indicates whether the user types a secret of this authenticator, a PIN or a password.
  var isTyped: Bool { kind == .pin || kind == .password }
}

extension UAFInteraction {
  /// Rejects a new PIN or password that breaks the app's policy, or, without one, the rules for accounts with the device's checks.
  func check(
    _ typed: SharedSecretBox, for authenticator: UAFAuthenticator, isChange: Bool, checks: PasswordChecks
  ) async throws(UAFRecoverableError) {
    let rule: UAFCredentialRule
    if authenticator.kind == .pin {
      let policy = pinPolicy
      guard policy.hasForm(typed) else {
        throw .invalidFormat(minimumLength: policy.minimumLength, maximumLength: policy.maximumLength)
      }
      rule = isChange ? policy.changeRule : policy.enrolmentRule
    } else {
      let policy = passwordPolicy
      rule =
        (isChange ? policy.changeRule : policy.enrolmentRule) ?? UAFPasswordPolicy.standard(checks: checks)
    }
    do throws(UAFCredentialRefusal) { try await rule(typed) } catch { throw .refused(error) }
  }
}

extension UAFRecoverableError {
  init(_ problem: UAFSecretProblem) {
    switch problem {
    case .sameAsBefore: self = .oldEqualsNew
    case .digitCount(let counts):
      self = .invalidFormat(minimumLength: counts.lowerBound, maximumLength: counts.upperBound)
    default: self = .refused(UAFCredentialRefusal(problem.description))
    }
  }
}
