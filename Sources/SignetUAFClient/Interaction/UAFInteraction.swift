public import SignetCrypto

/// The user interface of an app for operations with a UAF server.
///
/// Each question comes with a ``UAFAnswer``, which accepts one answer, within the call or later. The operation ends if the app
/// releases it unanswered or the time limit expires. The selection questions are put even if there is only one choice. The default
/// implementation of a question cancels the operation, so an app implements only the questions of the authenticators that it offers.
///
/// ```swift
/// struct Screens: UAFInteraction {
///   func selectAccount(_ question: UAFAccountSelection, answer: UAFAnswer<String>) async {
///     answer.give(question.accounts[0].username)
///   }
///   func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async {
///     guard let choice = question.choices.first(where: { $0.obstacle == nil }) else {
///       answer.cancel()
///       return
///     }
///     answer.give(choice.authenticator.aaid)
///   }
///   func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
///     answer.give(await askForPIN(question.lastRecoverableError, question.protectionStatus))
///   }
/// }
/// ```
public protocol UAFInteraction: Sendable {
  /// The rules for a new PIN.
  var pinPolicy: UAFPINPolicy { get }
  /// The rules for a new password.
  var passwordPolicy: UAFPasswordPolicy { get }

  /// Asks which account to use; the answer is the user's name.
  ///
  /// - Parameters:
  ///   - question: The accounts and the transaction to confirm.
  ///   - answer: Receives the user's name.
  func selectAccount(_ question: UAFAccountSelection, answer: UAFAnswer<String>) async

  /// Asks which authenticator to use; the answer is its AAID.
  ///
  /// - Parameters:
  ///   - question: All authenticators and the transaction to confirm.
  ///   - answer: Receives the AAID.
  func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async

  /// Asks for a first PIN or password.
  ///
  /// - Parameters:
  ///   - question: The user, the authenticator and the last error.
  ///   - answer: Receives the PIN or password, UTF-8 as typed.
  func enrol(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async

  /// Asks for the current PIN or password and a new one.
  ///
  /// - Parameters:
  ///   - question: The user, the authenticator and the last error.
  ///   - answer: Receives both.
  func change(_ question: UAFCredentialRequest, answer: UAFAnswer<UAFChangedCredential>) async

  /// Asks for the current PIN or password.
  ///
  /// - Parameters:
  ///   - question: The user, the authenticator and the lock status after failed attempts.
  ///   - answer: Receives the PIN or password, UTF-8 as typed.
  func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async

  /// Asks for permission to show the fingerprint or face prompt now.
  ///
  /// - Parameters:
  ///   - question: The user, the authenticator and the last error.
  ///   - answer: Receives the texts of the prompt.
  func verifyBiometrics(_ question: UAFPromptRequest, answer: UAFAnswer<UAFBiometricPrompt>) async

  /// Asks for permission to show the device passcode prompt now.
  ///
  /// - Parameters:
  ///   - question: The user, the authenticator and the last error.
  ///   - answer: Receives the texts of the prompt.
  func verifyPasscode(_ question: UAFPromptRequest, answer: UAFAnswer<UAFPasscodePrompt>) async

  /// Reports that the authenticator accepted the user's credentials; the server has not confirmed the operation yet.
  ///
  /// - Parameters:
  ///   - username: The user's name.
  ///   - authenticator: The authenticator that accepted the credentials.
  func validCredentialsProvided(by username: String, to authenticator: UAFAuthenticator) async
}

extension UAFInteraction {
  /// Exactly six digits.
  public var pinPolicy: UAFPINPolicy { UAFPINPolicy() }

  /// The rules of ``UAFPasswordPolicy/standard(checks:)``, with the checks of the device.
  public var passwordPolicy: UAFPasswordPolicy { UAFPasswordPolicy() }

  /// Cancels the operation.
  public func selectAccount(_ question: UAFAccountSelection, answer: UAFAnswer<String>) async {
    answer.cancel()
  }

  /// Cancels the operation.
  public func enrol(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    answer.cancel()
  }

  /// Cancels the operation.
  public func change(_ question: UAFCredentialRequest, answer: UAFAnswer<UAFChangedCredential>) async {
    answer.cancel()
  }

  /// Cancels the operation.
  public func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    answer.cancel()
  }

  /// Cancels the operation.
  public func verifyBiometrics(_ question: UAFPromptRequest, answer: UAFAnswer<UAFBiometricPrompt>) async {
    answer.cancel()
  }

  /// Cancels the operation.
  public func verifyPasscode(_ question: UAFPromptRequest, answer: UAFAnswer<UAFPasscodePrompt>) async {
    answer.cancel()
  }

  /// Does nothing.
  public func validCredentialsProvided(by username: String, to authenticator: UAFAuthenticator) async {}
}
