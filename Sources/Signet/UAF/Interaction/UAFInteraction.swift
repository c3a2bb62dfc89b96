public import SignetCrypto

/// An app's part in operations with a UAF server: it shows what is asked, and answers.
///
/// Each question comes with a ``UAFAnswer`` that is good once. It may be answered within the call or later; where it is let go of,
/// or the time is up, the operation ends. The selectors are asked also where there is one choice alone. A question that is not
/// implemented cancels the operation, so an app needs only those for the authenticators that it offers.
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
  /// What a new PIN has to be.
  var pinPolicy: UAFPINPolicy { get }
  /// What a new password has to be.
  var passwordPolicy: UAFPasswordPolicy { get }

  /// Which account is meant; the answer is its user's name.
  ///
  /// - Parameters:
  ///   - question: The accounts, and what is to be confirmed.
  ///   - answer: Takes the user's name.
  func selectAccount(_ question: UAFAccountSelection, answer: UAFAnswer<String>) async

  /// Which authenticator is used; the answer is its AAID.
  ///
  /// - Parameters:
  ///   - question: All authenticators, and what is to be confirmed.
  ///   - answer: Takes the AAID.
  func selectAuthenticator(_ question: UAFAuthenticatorSelection, answer: UAFAnswer<String>) async

  /// A first PIN or password.
  ///
  /// - Parameters:
  ///   - question: For whom.
  ///   - answer: Takes it: UTF-8 as typed.
  func enrol(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async

  /// The present PIN or password, and the next.
  ///
  /// - Parameters:
  ///   - question: For whom.
  ///   - answer: Takes both.
  func change(_ question: UAFCredentialRequest, answer: UAFAnswer<UAFChangedCredential>) async

  /// The present PIN or password.
  ///
  /// - Parameters:
  ///   - question: For whom, and what wrong tries have led to.
  ///   - answer: Takes it: UTF-8 as typed.
  func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async

  /// Whether the device may ask for a finger or a face now.
  ///
  /// - Parameters:
  ///   - question: For whom.
  ///   - answer: Takes what the person reads.
  func verifyBiometrics(_ question: UAFPromptRequest, answer: UAFAnswer<UAFBiometricPrompt>) async

  /// Whether the device may ask for its passcode now.
  ///
  /// - Parameters:
  ///   - question: For whom.
  ///   - answer: Takes what the person reads.
  func verifyPasscode(_ question: UAFPromptRequest, answer: UAFAnswer<UAFPasscodePrompt>) async

  /// What the person gave is right; the server has confirmed nothing yet.
  ///
  /// - Parameters:
  ///   - username: Who gave it.
  ///   - authenticator: What has checked it.
  func validCredentialsProvided(by username: String, to authenticator: UAFAuthenticator) async
}

extension UAFInteraction {
  /// Six digits.
  public var pinPolicy: UAFPINPolicy { UAFPINPolicy() }

  /// No rules; an app that offers passwords should have some.
  public var passwordPolicy: UAFPasswordPolicy { UAFPasswordPolicy() }

  /// Cancels.
  public func selectAccount(_ question: UAFAccountSelection, answer: UAFAnswer<String>) async {
    answer.cancel()
  }

  /// Cancels.
  public func enrol(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    answer.cancel()
  }

  /// Cancels.
  public func change(_ question: UAFCredentialRequest, answer: UAFAnswer<UAFChangedCredential>) async {
    answer.cancel()
  }

  /// Cancels.
  public func verify(_ question: UAFCredentialRequest, answer: UAFAnswer<SharedSecretBox>) async {
    answer.cancel()
  }

  /// Cancels.
  public func verifyBiometrics(_ question: UAFPromptRequest, answer: UAFAnswer<UAFBiometricPrompt>) async {
    answer.cancel()
  }

  /// Cancels.
  public func verifyPasscode(_ question: UAFPromptRequest, answer: UAFAnswer<UAFPasscodePrompt>) async {
    answer.cancel()
  }

  /// Does nothing.
  public func validCredentialsProvided(by username: String, to authenticator: UAFAuthenticator) async {}
}
