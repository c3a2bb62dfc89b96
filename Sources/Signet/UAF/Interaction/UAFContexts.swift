public import SignetCrypto
public import SignetPolicy
public import SignetVault

/// Why something went wrong that the person may mend; the same is asked again.
@nonexhaustive public enum UAFRecoverableError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A new PIN does not have so many digits.
  case invalidFormat(minimumLength: Int, maximumLength: Int)
  /// The app's own rule refuses what is new.
  case refused(UAFCredentialRefusal)
  /// The present PIN or password is another.
  case wrongCredential
  /// What is new is what was there before.
  case oldEqualsNew
  /// A try came before the wait after wrong ones was over; it does not count.
  case coolingDown
  /// The sensor did not recognise the person, or the passcode of the device is another.
  case notRecognised

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .invalidFormat(let least, let most):
      least == most ? "use \(least) digits" : "use \(least) to \(most) digits"
    case .refused(let refusal): refusal.message
    case .wrongCredential: "this is not the right one"
    case .oldEqualsNew: "the new one has to differ from the present one"
    case .coolingDown: "wait until the next try is allowed"
    case .notRecognised: "not recognised; try again"
    }
  }
}

/// The question which account is meant, where the server does not say.
public struct UAFAccountSelection: Sendable {
  /// The accounts on this device at that server.
  public let accounts: [UAFAccount]
  /// What the person is asked to confirm; show it before they go on.
  public let transaction: UAFTransactionContent?
  let compliant: @Sendable (_ username: String, _ aaid: String) -> Bool

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - accounts: The accounts.
  ///   - transaction: What is to be confirmed.
  ///   - isPolicyCompliant: Whether the server takes an authenticator for a user.
  public init(
    accounts: [UAFAccount], transaction: UAFTransactionContent? = nil,
    isPolicyCompliant: @escaping @Sendable (_ username: String, _ aaid: String) -> Bool
  ) {
    (self.accounts, self.transaction, compliant) = (accounts, transaction, isPolicyCompliant)
  }

  /// Whether the server takes an authenticator for a user.
  ///
  /// - Parameters:
  ///   - username: The user.
  ///   - aaid: The authenticator.
  /// - Returns: Whether it does.
  public func isPolicyCompliant(_ username: String, _ aaid: String) -> Bool { compliant(username, aaid) }
}

/// One of the authenticators that a person may choose from, or may be told about.
public struct UAFAuthenticatorChoice: Hashable, Sendable {
  /// Why an authenticator is of no use for this.
  public enum Obstacle: Hashable, Sendable, CustomStringConvertible {
    /// This device has not got what it takes.
    case notSupportedByHardware
    /// The person has not set it up in the settings of the device.
    case notEnrolled
    /// It is registered for this user already.
    case alreadyRegistered
    /// It is not registered for this user.
    case notRegistered
    /// The server does not accept it.
    case notAccepted

    /// Why, for people.
    public var description: String {
      switch self {
      case .notSupportedByHardware: "this device has not got what it takes"
      case .notEnrolled: "it is not set up on this device"
      case .alreadyRegistered: "it is registered already"
      case .notRegistered: "it is not registered for this user"
      case .notAccepted: "the server does not accept it"
      }
    }
  }

  /// The authenticator.
  public let authenticator: UAFAuthenticator
  /// Whether the server's policy takes it.
  public let isPolicyCompliant: Bool
  /// Why it is of no use; `nil` for one that may be chosen.
  public let obstacle: Obstacle?

  /// Describes a choice; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - authenticator: The authenticator.
  ///   - isPolicyCompliant: Whether the server's policy takes it.
  ///   - obstacle: Why it is of no use.
  public init(authenticator: UAFAuthenticator, isPolicyCompliant: Bool, obstacle: Obstacle?) {
    (self.authenticator, self.isPolicyCompliant, self.obstacle) = (authenticator, isPolicyCompliant, obstacle)
  }
}

/// The question which authenticator is used; asked also where there is one alone.
public struct UAFAuthenticatorSelection: Hashable, Sendable {
  /// Whom it is for.
  public let account: UAFAccount
  /// All authenticators of this device, in the order that the server prefers; those of no use say why.
  public let choices: [UAFAuthenticatorChoice]
  /// What the person is asked to confirm; show it before they go on.
  public let transaction: UAFTransactionContent?

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - account: Whom it is for.
  ///   - choices: All authenticators.
  ///   - transaction: What is to be confirmed.
  public init(
    account: UAFAccount, choices: [UAFAuthenticatorChoice], transaction: UAFTransactionContent? = nil
  ) {
    (self.account, self.choices, self.transaction) = (account, choices, transaction)
  }

  /// Whether the server takes an authenticator.
  public func isPolicyCompliant(_ aaid: String) -> Bool {
    choices.contains { $0.authenticator.isModel(aaid) && $0.isPolicyCompliant }
  }
}

/// The question for a PIN or a password: a first one, the present one, or both the present one and the next.
public struct UAFCredentialRequest: Hashable, Sendable {
  /// Whose it is.
  public let username: String
  /// The authenticator: of the kind `pin` or `password`.
  public let authenticator: UAFAuthenticator
  /// Why the last answer was of no use; `nil` for the first question.
  public let lastRecoverableError: UAFRecoverableError?
  /// What wrong tries have led to.
  public let protectionStatus: LockStatus
  /// What the person confirms by it; it was shown before.
  public let transaction: UAFTransactionContent?

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - username: Whose it is.
  ///   - authenticator: The authenticator.
  ///   - lastRecoverableError: Why the last answer was of no use.
  ///   - protectionStatus: What wrong tries have led to.
  ///   - transaction: What the person confirms by it.
  public init(
    username: String, authenticator: UAFAuthenticator, lastRecoverableError: UAFRecoverableError? = nil,
    protectionStatus: LockStatus = .unlocked, transaction: UAFTransactionContent? = nil
  ) {
    (self.username, self.authenticator) = (username, authenticator)
    (self.lastRecoverableError, self.protectionStatus) = (lastRecoverableError, protectionStatus)
    self.transaction = transaction
  }
}

/// The present PIN or password and the next.
public struct UAFChangedCredential: Sendable {
  let present: SharedSecretBox
  let next: SharedSecretBox

  /// Takes both: UTF-8 as typed.
  ///
  /// - Parameters:
  ///   - present: What opens it now.
  ///   - next: What is to open it.
  public init(from present: SharedSecretBox, to next: SharedSecretBox) {
    (self.present, self.next) = (present, next)
  }
}

/// The question whether the device may ask for a finger, a face or its passcode now.
public struct UAFPromptRequest: Hashable, Sendable {
  /// Whose key is used.
  public let username: String
  /// The authenticator: of the kind `fingerprint`, `face` or `devicePasscode`.
  public let authenticator: UAFAuthenticator
  /// Why the last prompt was of no use; `nil` for the first.
  public let lastRecoverableError: UAFRecoverableError?
  /// What the person confirms by it; it was shown before.
  public let transaction: UAFTransactionContent?

  /// Describes the question; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - username: Whose key is used.
  ///   - authenticator: The authenticator.
  ///   - lastRecoverableError: Why the last prompt was of no use.
  ///   - transaction: What the person confirms by it.
  public init(
    username: String, authenticator: UAFAuthenticator, lastRecoverableError: UAFRecoverableError? = nil,
    transaction: UAFTransactionContent? = nil
  ) {
    (self.username, self.authenticator) = (username, authenticator)
    (self.lastRecoverableError, self.transaction) = (lastRecoverableError, transaction)
  }
}

/// How the device asks for a finger or a face.
public struct UAFBiometricPrompt: Sendable {
  let reason: String
  let hints: @Sendable (BiometricHint) -> Void

  /// Sets what the person reads.
  ///
  /// - Parameters:
  ///   - reason: Why they are asked.
  ///   - hints: Hears what to show while the sensor waits.
  public init(reason: String, hints: @escaping @Sendable (BiometricHint) -> Void = { _ in }) {
    (self.reason, self.hints) = (reason, hints)
  }
}

/// How the device asks for its passcode.
public struct UAFPasscodePrompt: Sendable {
  let reason: String
  let conversation: any PasscodeConversation

  /// Sets what the person reads, and who asks them.
  ///
  /// - Parameters:
  ///   - reason: Why they are asked.
  ///   - conversation: Asks what the system wants to know.
  public init(reason: String, conversation: any PasscodeConversation) {
    (self.reason, self.conversation) = (reason, conversation)
  }
}
