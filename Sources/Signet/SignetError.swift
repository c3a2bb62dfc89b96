public import SignetHTTPClient
public import SignetIntegrity
public import SignetInterchange
public import SignetOATH
public import SignetPolicy
public import SignetProtocol
public import SignetPushAuth
public import SignetVault

/// The error of every public operation of `Signet` and `SignetUAFClient`, with a stable number and code for each case.
///
/// Numbers and codes never change and are never reused; new cases get new ones.
@nonexhaustive public enum SignetError: Error, Hashable, Sendable, CustomStringConvertible {
  // Credentials, which the user can correct.
  /// The password is wrong; the value is the number of attempts left, `nil` without a limit.
  case wrongPassword(remaining: Int?)
  /// The new password violates these rules of the policy.
  case passwordRefused([PasswordViolation])
  /// The policy requires a dictionary check of the new password, which failed to run.
  case dictionary(PasswordDictionaryFailure)
  /// A password is required and none was given.
  case passwordRequired
  /// The user cancelled the password prompt of an activation or a renewal.
  case activationCancelled
  /// The protected secrets stay locked after too many wrong passwords.
  case lockedOut
  /// The attempt came before the wait after wrong passwords ended and does not count; the values are the remaining wait and attempts.
  case waiting(Duration, remaining: Int?)
  /// The protected secrets were erased after too many wrong passwords.
  case wiped
  /// The new password is among this number of latest passwords.
  case passwordUsedBefore(within: Int)
  /// The password may not be changed before this time, in seconds since 1970.
  case passwordTooYoung(until: Int64)
  /// The password has expired and must be changed first.
  case passwordExpired
  /// The recovery code is not the latest one.
  case wrongRecoveryCode
  /// The biometric match failed or was cancelled; the password still works.
  case biometrics(BiometricFailure)
  /// A finger or a face was enrolled or removed since biometrics were enabled; the password enables them again.
  case biometricsInvalidated
  /// The device passcode was wrong or its prompt was cancelled; the password still works.
  case passcode(DevicePasscodeFailure)
  /// This credential is not enabled for the container; use the password.
  case unlockMethodNotEnabled(UnlockMethod)
  /// The protection policy of the container does not allow this credential.
  case unlockMethodNotOffered(UnlockMethod)
  /// One of the failures above, for the separate password of this key and not for the container's.
  indirect case key(Key.Usage, SignetError)

  // Activation.
  /// The scanned or pasted text is not an activation code.
  case activationCode(ActivationCodeFailure)
  /// The app aborted an activation or a renewal.
  case activationAborted
  /// The server rejected the activation: wrong user or invite, or an invite that is used, expired or exhausted.
  case activationRefused
  /// The server did not prove that it knows the invite; nothing was stored.
  case serverNotAuthentic
  /// The user's name for the device is invalid.
  case deviceNameRefused(WireFailure)
  /// The server's offer contains something that this build does not support.
  case unsupportedProfile(WireFailure)
  /// The server names another URL than the activation code; nothing was stored.
  ///
  /// A container's signatures name its server, so both sides must use one URL. `offered` is not authenticated: use it
  /// only if it is known to be right.
  case serverNameMismatch(offered: ServerURL)
  /// The server does not accept the keystore of this device.
  case unsupportedDevice(Problem)
  /// The server dropped an unconfirmed renewal; the container is unchanged.
  case renewalDropped

  // The device.
  /// There is no such container.
  case noSuchContainer
  /// The push target or its name is invalid.
  case pushTargetRefused(WireFailure)
  /// The reason for a deletion is invalid.
  case reasonRefused(WireFailure)
  /// The vault failed.
  case vault(VaultFailure)

  // Imported and enrolled accounts.
  /// There is no such account.
  case noSuchAccount
  /// The secret may not be exported: its server, or the user at the import, did not allow it.
  case notExportable
  /// An account has an invalid member.
  case interchange(InterchangeFailure)
  /// The challenge or another input of the suite is invalid; the counter was not incremented.
  case ocra(OCRAFailure)
  /// The account answers challenges only and has no codes without one.
  case challengeRequired
  /// The account has codes without a challenge only.
  case challengeNotSupported
  /// The part is already enrolled and stays unchanged; the values are its description and its account.
  case alreadyEnrolled(String, account: Account.ID)
  /// A URI, a message or an answer of the push protocol is invalid.
  case pushAuth(PushAuthFailure)
  /// The server of a push mechanism rejected the request: the status, and the server's untrusted text of at most 200 code points.
  case pushAuthRefused(status: Int, reason: String = "")

  // Locks of containers and accounts.
  /// The container or account is locked: by the policy ``AccountLock/lockingPolicy``, manually, or by its server.
  case accountLocked(AccountLock)
  /// The manual lock or unlock failed.
  case accountLock(AccountLockFailure)
  /// The account policies of an enrolment are malformed.
  case accountPolicy(AccountPolicyFailure)
  /// The device does not comply with the account policies of an enrolment; nothing was enrolled.
  case accountPolicyBroken([AccountPolicyBreach])
  /// The server ordered the deletion of the container; it and its keys are deleted.
  case containerWiped
  /// The server accepts only signatures and no one-time codes of this container for now.
  case codesNotAccepted(reason: String)

  // Tampering.
  /// The program or its system is being tampered with, so nothing was opened; listing, denying and removing still work.
  case integrity(IntegrityFailure)

  // Sessions and app data.
  /// App data was not encrypted or decrypted, usually because the session is locked.
  case appData(AppDataFailure)
  /// The session shared by apps could not be used.
  case sharedSession(SharedSessionFailure)

  // The server.
  /// The server could not be reached or authenticated.
  case transport(TransportFailure)
  /// The server's answer does not follow the protocol.
  case unexpectedAnswer(status: Int)
  /// The server does not know this container any more.
  case containerUnknown
  /// The server signs with a key that this container does not know and that no known key vouches for.
  case serverKeyUnknown
  /// The server rejected the request; the problem has the reason.
  case refused(Problem)

  // Transactions.
  /// The transaction has expired.
  case transactionExpired
  /// There is no such transaction for this container.
  case noSuchTransaction
  /// The transaction was already decided.
  case transactionDecided
  /// Several containers could decide the scanned transaction; the user must choose one of these.
  case severalContainers([Container])
  /// The content to sign, or the scanned text, cannot be displayed exactly or is not a transaction.
  case contentRefused(WireFailure)
  /// The server does not allow this decision.
  case decisionNotAllowed
  /// The user cancelled the transaction on some device, or the relying party withdrew it.
  case transactionCancelled
  /// The number is not the one that the relying party shows; the problem has the attempts left.
  case wrongNumber(Problem)
  /// The approval of this transaction requires a number of this many digits; 0 if it takes none.
  case numberRequired(digits: Int)

  // FIDO UAF.
  /// The UAF client of `SignetUAFClient` failed for a reason of its own.
  case uaf(UAFCause)

  /// The stable number of the case, of the inner failure for `key`, and of the reason for `uaf`.
  public var number: Int { identity.number }

  /// The stable code of the case beside its ``number``, such as `wrongPassword`.
  public var code: String { identity.code }

  /// The failure that this error wraps; `nil` if it has no other cause.
  public var cause: (any Error)? {
    switch self {
    case .key(_, let failure): failure
    case .dictionary(let failure): failure
    case .biometrics(let failure): failure
    case .passcode(let failure): failure
    case .activationCode(let failure): failure
    case .deviceNameRefused(let failure), .unsupportedProfile(let failure), .pushTargetRefused(let failure),
      .reasonRefused(let failure), .contentRefused(let failure):
      failure
    case .unsupportedDevice(let problem), .refused(let problem), .wrongNumber(let problem): problem
    case .vault(let failure): failure
    case .interchange(let failure): failure
    case .ocra(let failure): failure
    case .pushAuth(let failure): failure
    case .accountLock(let failure): failure
    case .accountPolicy(let failure): failure
    case .integrity(let failure): failure
    case .appData(let failure): failure
    case .sharedSession(let failure): failure
    case .transport(let failure): failure
    case .uaf(let cause): cause.failure
    default: nil
    }
  }

  /// What to do, as a part of ``description``; `nil` where the description does not separate it: then show the description.
  public var nextStep: String? { sentence.nextStep }

  /// The failure and the next step, without any password, code or key.
  public var description: String { sentence.text }

  /// A number and a code that never change.
  struct Identity {
    let number: Int
    let code: String

    init(_ number: Int, _ code: String) {
      self.number = number
      self.code = code
    }
  }

  private var identity: Identity {
    switch self {
    case .wrongPassword: Identity(100, "wrongPassword")
    case .passwordRefused: Identity(101, "passwordRefused")
    case .passwordRequired: Identity(105, "passwordRequired")
    case .dictionary: Identity(111, "dictionary")
    case .activationCancelled: Identity(109, "activationCancelled")
    case .lockedOut: Identity(110, "lockedOut")
    case .waiting: Identity(115, "waiting")
    case .wiped: Identity(112, "wiped")
    case .passwordUsedBefore: Identity(113, "passwordUsedBefore")
    case .passwordTooYoung: Identity(104, "passwordTooYoung")
    case .passwordExpired: Identity(103, "passwordExpired")
    case .wrongRecoveryCode: Identity(114, "wrongRecoveryCode")
    case .biometrics: Identity(120, "biometrics")
    case .biometricsInvalidated: Identity(121, "biometricsInvalidated")
    case .passcode: Identity(122, "passcode")
    case .unlockMethodNotEnabled: Identity(123, "unlockMethodNotEnabled")
    case .unlockMethodNotOffered: Identity(124, "unlockMethodNotOffered")
    case .key(_, let failure): failure.identity
    case .activationCode: Identity(200, "activationCode")
    case .activationAborted: Identity(201, "activationAborted")
    case .activationRefused: Identity(202, "activationRefused")
    case .serverNotAuthentic: Identity(203, "serverNotAuthentic")
    case .unsupportedProfile: Identity(204, "unsupportedProfile")
    case .deviceNameRefused: Identity(205, "deviceNameRefused")
    case .serverNameMismatch: Identity(206, "serverNameMismatch")
    case .unsupportedDevice: Identity(207, "unsupportedDevice")
    case .renewalDropped: Identity(208, "renewalDropped")
    case .noSuchContainer: Identity(8, "noSuchContainer")
    case .reasonRefused: Identity(9, "reasonRefused")
    case .pushTargetRefused: Identity(14, "pushTargetRefused")
    case .vault: Identity(10, "vault")
    case .noSuchAccount: Identity(11, "noSuchAccount")
    case .notExportable: Identity(12, "notExportable")
    case .interchange: Identity(13, "interchange")
    case .ocra: Identity(15, "ocra")
    case .challengeRequired: Identity(16, "challengeRequired")
    case .challengeNotSupported: Identity(17, "challengeNotSupported")
    case .accountLocked: Identity(500, "accountLocked")
    case .accountLock: Identity(501, "accountLock")
    case .accountPolicy: Identity(502, "accountPolicy")
    case .accountPolicyBroken: Identity(503, "accountPolicyBroken")
    case .codesNotAccepted: Identity(504, "codesNotAccepted")
    case .containerWiped: Identity(505, "containerWiped")
    case .integrity: Identity(600, "integrity")
    case .alreadyEnrolled: Identity(18, "alreadyEnrolled")
    case .pushAuth: Identity(19, "pushAuth")
    case .pushAuthRefused: Identity(20, "pushAuthRefused")
    case .appData: Identity(400, "appData")
    case .sharedSession: Identity(401, "sharedSession")
    case .transport: Identity(303, "transport")
    case .unexpectedAnswer: Identity(302, "unexpectedAnswer")
    case .containerUnknown: Identity(300, "containerUnknown")
    case .refused: Identity(305, "refused")
    case .serverKeyUnknown: Identity(306, "serverKeyUnknown")
    case .transactionExpired: Identity(1000, "transactionExpired")
    case .noSuchTransaction: Identity(1004, "noSuchTransaction")
    case .transactionDecided: Identity(1003, "transactionDecided")
    case .severalContainers: Identity(1009, "severalContainers")
    case .contentRefused: Identity(1008, "contentRefused")
    case .decisionNotAllowed: Identity(1005, "decisionNotAllowed")
    case .transactionCancelled: Identity(1002, "transactionCancelled")
    case .wrongNumber: Identity(1006, "wrongNumber")
    case .numberRequired: Identity(1007, "numberRequired")
    case .uaf(let cause): cause.reason.identity
    }
  }

  /// Indicates whether a credential other than the password failed, so that the app can ask for the password instead.
  public var canFallBackToPassword: Bool {
    switch self {
    case .biometrics, .biometricsInvalidated, .passcode, .unlockMethodNotEnabled, .unlockMethodNotOffered,
      .passwordRequired:
      true
    case .key(_, let failure): failure.canFallBackToPassword
    default: false
    }
  }

  /// The text of a failure, of which the next step is a part.
  private struct Sentence {
    let text: String
    let nextStep: String?

    init(text: String, nextStep: String?) {
      self.text = text
      self.nextStep = nextStep
    }

    /// The failure with its closing semicolon or colon, then the next step.
    init(_ failure: String, _ nextStep: String) {
      self.init(text: "\(failure) \(nextStep)", nextStep: nextStep)
    }

    /// A failure without a next step, or the sentence of the cause.
    init(_ failure: String) { self.init(text: failure, nextStep: nil) }

    init(nextStep: String, because failure: WireFailure) {
      self.init(text: "\(nextStep): \(failure)", nextStep: nextStep)
    }
  }

  private var sentence: Sentence {
    switch self {
    case .wrongPassword(nil): Sentence("the password is wrong;", "try again")
    case .wrongPassword(0): Sentence("the password is wrong and no try is left;", Self.resetRemedy())
    case .wrongPassword(1): Sentence("the password is wrong; 1 try is left")
    case .wrongPassword(let remaining?): Sentence("the password is wrong; \(remaining) tries are left")
    case .passwordRefused(let violations):
      Sentence("the password is not allowed: \(violations.map(\.description).joined(separator: "; "))")
    case .passwordRequired: Sentence("a password is needed;", "enter it")
    case .dictionary(let failure): Sentence(failure.description)
    case .activationCancelled:
      Sentence("the operation was cancelled; nothing was changed:", "start again")
    case .lockedOut: Sentence("locked after too many wrong passwords;", Self.resetRemedy())
    case .waiting(let wait, let remaining):
      Sentence(VaultFailure.waiting(wait, remaining: remaining).description)
    case .wiped:
      Sentence(
        "everything that the password protected was erased after too many wrong passwords;",
        "ask for a new activation code")
    case .passwordUsedBefore(let count):
      Sentence(VaultFailure.passwordUsedBefore(within: count).description)
    case .passwordTooYoung(let until): Sentence(VaultFailure.passwordTooYoung(until: until).description)
    case .passwordExpired:
      Sentence("the password is too old;", "change it (signet password change), then go on")
    case .wrongRecoveryCode: Sentence(VaultFailure.wrongRecoveryCode.description)
    case .biometrics(let failure): Sentence(failure.description)
    case .biometricsInvalidated:
      Sentence(
        "a finger or face was enrolled or removed since biometrics were enabled;",
        "use the password, and enable them again with it")
    case .passcode(let failure): Sentence(failure.description)
    case .unlockMethodNotEnabled(.biometrics):
      Sentence("biometrics are not enabled for this container;", "use the password")
    case .unlockMethodNotEnabled(.passcode):
      Sentence("the device's passcode is not enabled for this container;", "use the password")
    case .unlockMethodNotOffered(.biometrics):
      Sentence("the server's policy does not let biometrics open this container;", "use the password")
    case .unlockMethodNotOffered(.passcode):
      Sentence(
        "the server's policy does not let the device's passcode open this container;", "use the password")
    case .key(let key, .passwordExpired):
      Sentence(
        "\(key): the password is too old;",
        "change it (signet password change --key \(key.name)), then go on")
    case .key(let key, .wrongPassword(0)):
      Sentence("\(key): the password is wrong and no try is left;", Self.resetRemedy(of: key))
    case .key(let key, .lockedOut):
      Sentence("\(key): locked after too many wrong passwords;", Self.resetRemedy(of: key))
    case .key(let key, let failure):
      Sentence(text: "\(key): \(failure)", nextStep: failure.nextStep)
    case .activationCode(let failure): Sentence(failure.description)
    case .activationAborted: Sentence("the operation was stopped; nothing was changed:", "start again")
    case .activationRefused:
      Sentence(
        "the server refused the activation;",
        "check the user id and the invite code, or ask for a new one (an invite is valid once, for a limited time and for a few attempts)"
      )
    case .serverNotAuthentic:
      Sentence(
        "the server did not prove that it knows the invite; nothing was stored:",
        "check the server URL with the operator who gave you the code")
    case .deviceNameRefused(let failure):
      Sentence(nextStep: "choose another name for the device", because: failure)
    case .unsupportedProfile(let failure):
      Sentence("this version does not support what the server offers: \(failure)")
    case .serverNameMismatch(let offered):
      Sentence(
        "the URL of the server is \(offered.shortForm); nothing was stored:",
        "if that is the right server, use that URL, or ask for a new activation code")
    case .unsupportedDevice(let problem):
      Sentence(
        "the server does not accept this device: \(problem.detail.isEmpty ? problem.code.title : problem.detail)"
      )
    case .renewalDropped:
      Sentence("the server discarded the renewal; the keys are unchanged:", "renew again")
    case .noSuchContainer: Sentence("there is no such container;", "list the containers (signet list)")
    case .pushTargetRefused(let failure):
      Sentence(nextStep: "name another target of pushes", because: failure)
    case .reasonRefused(let failure): Sentence(nextStep: "give another reason", because: failure)
    case .vault(let failure): Sentence(failure.description)
    case .noSuchAccount: Sentence("there is no such account;", "list the accounts (signet account list)")
    case .notExportable:
      Sentence("this secret may not leave the device;", "set up the other authenticator with its issuer")
    case .interchange(let failure): Sentence(failure.description)
    case .ocra(let failure): Sentence(failure.description)
    case .challengeRequired:
      Sentence("this account answers challenges;", "give it one (signet account respond)")
    case .challengeNotSupported:
      Sentence("this account does not answer challenges;", "make a code (signet otp)")
    case .accountLocked(let lock): Sentence(lock.description)
    case .accountLock(let failure): Sentence(failure.description)
    case .accountPolicy(let failure): Sentence(failure.description)
    case .accountPolicyBroken(let breaches):
      Sentence(
        "this device does not meet the requirements, so nothing was added: \(breaches.map(\.description).joined(separator: "; "))"
      )
    case .containerWiped:
      Sentence(
        "the server had the container deleted from this device, with its keys;", "ask its operator why")
    case .codesNotAccepted(let reason):
      Sentence(
        "the server does not accept one-time codes of this device for now\(reason.isEmpty ? "" : " (\(reason))");",
        "approve a transaction instead")
    case .alreadyEnrolled(let what, let account):
      Sentence(
        "\(what) are already enrolled, and were not changed;",
        "to enrol again, first delete the account with all its secrets: signet account delete \(account.shortForm)"
      )
    case .pushAuth(let failure): Sentence(failure.description)
    case .pushAuthRefused(let status, ""):
      Sentence("the server did not accept it (status \(status));", "start again at the server")
    case .pushAuthRefused(let status, let reason):
      Sentence("the server did not accept it (status \(status)): \(reason)")
    case .integrity(let failure): Sentence(failure.description)
    case .appData(let failure): Sentence(failure.description)
    case .sharedSession(let failure): Sentence(failure.description)
    case .transport(let failure): Sentence(failure.description)
    case .unexpectedAnswer(let status) where (500...599).contains(status):
      Sentence("the server, or a proxy before it, failed (status \(status));", "try again")
    case .unexpectedAnswer(let status):
      Sentence(
        "the server's answer (status \(status)) does not follow this protocol;", "check the server URL")
    case .containerUnknown:
      Sentence("the server does not know this container any more;", "activate again")
    case .serverKeyUnknown:
      Sentence(
        "the response is not signed with the server's key;",
        "ask its operator, then make new keys: signet renew")
    // The detail of an unknown object alone is clearer than with the title.
    case .refused(let problem) where problem.code == .unknown && !problem.detail.isEmpty:
      Sentence(problem.detail)
    case .refused(let problem):
      Sentence(problem.detail.isEmpty ? problem.code.title : "\(problem.code.title) \(problem.detail)")
    case .transactionExpired:
      Sentence("the transaction has expired;", "ask the other side to start again")
    case .noSuchTransaction:
      Sentence("there is no such pending transaction;", "list the pending ones (signet pending)")
    case .transactionDecided:
      Sentence("the transaction is already decided, perhaps on another device; nothing was changed")
    case .severalContainers(let containers):
      Sentence(
        "several users of this device could decide it: \(containers.map(\.user.text).joined(separator: ", "));",
        "choose one")
    case .contentRefused(let failure):
      Sentence("the transaction cannot be displayed, or is malformed: \(failure)")
    case .decisionNotAllowed: Sentence("the server does not offer this decision for the transaction")
    case .transactionCancelled:
      Sentence("the transaction was cancelled, or withdrawn by the other side; nothing was changed")
    case .wrongNumber(let problem) where problem.detail.isEmpty:
      Sentence("the number is not the one that the other side shows;", "look again")
    case .wrongNumber(let problem):
      Sentence("the number is not the one that the other side shows. \(problem.detail)")
    case .numberRequired(0): Sentence("no number is asked for;", "leave it out")
    case .numberRequired(let digits):
      Sentence(
        text: "type the \(digits) digits that the other side shows",
        nextStep: "type the \(digits) digits that the other side shows")
    case .uaf(let cause): Sentence("\(cause.failure)")
    }
  }

  /// The remedy for a lock that the password does not open.
  private static func resetRemedy(of key: Key.Usage? = nil) -> String {
    let option = key.map { " --key \($0.name)" } ?? ""
    return
      "use the recovery code if there is one (signet recovery reset\(option)), or ask for a new activation code"
  }

  /// Returns this failure for the password of a key; a failure without relation to a credential is returned unchanged.
  func about(_ key: Key.Usage) -> SignetError {
    switch self {
    case .wrongPassword, .passwordRefused, .passwordRequired, .lockedOut, .waiting, .wiped,
      .passwordUsedBefore, .passwordTooYoung, .passwordExpired, .wrongRecoveryCode, .biometricsInvalidated,
      .unlockMethodNotEnabled, .unlockMethodNotOffered:
      .key(key, self)
    default: self
    }
  }

  /// Converts a failure of the vault; all such conversions are made here.
  package init(_ failure: VaultFailure) {
    self =
      switch failure {
      case .wrongPassword(let remaining): .wrongPassword(remaining: remaining)
      case .lockedOut: .lockedOut
      // The cached key is outdated.
      case .outdated: .passwordRequired
      case .waiting(let wait, let remaining): .waiting(wait, remaining: remaining)
      case .wiped: .wiped
      case .passwordRefused(let violations): .passwordRefused(violations)
      case .passwordUsedBefore(let count): .passwordUsedBefore(within: count)
      case .passwordTooYoung(let until): .passwordTooYoung(until: until)
      case .wrongRecoveryCode: .wrongRecoveryCode
      case .biometric(let failure): .biometrics(failure)
      case .biometricsInvalidated: .biometricsInvalidated
      case .passcode(let failure): .passcode(failure)
      case .noSuchSlot(_, .biometric): .unlockMethodNotEnabled(.biometrics)
      case .noSuchSlot(_, .devicePasscode): .unlockMethodNotEnabled(.passcode)
      case .noSuchContainer: .noSuchContainer
      default: .vault(failure)
      }
  }

  /// Converts a problem document of a server; all such conversions are made here.
  package init(_ problem: Problem) {
    self =
      switch problem.code {
      case .activationRefused: .activationRefused
      case .deviceUnsupported: .unsupportedDevice(problem)
      case .containerUnknown: .containerUnknown
      case .transactionExpired: .transactionExpired
      case .transactionDecided: .transactionDecided
      case .transactionCancelled: .transactionCancelled
      case .transactionWrongNumber: .wrongNumber(problem)
      default: .refused(problem)
      }
  }
}

extension SignetError {
  /// Indicates whether the server has lost the handshake that *finish* needs: it was restarted, or the handshake expired.
  var isVoidHandshake: Bool {
    if case .refused(let problem) = self { problem.code == .handshakeVoid } else { false }
  }
}

/// Runs a call of the vault and converts its failure.
package func vaulted<Value: ~Copyable>(
  _ call: @autoclosure () async throws(VaultFailure) -> Value
) async throws(SignetError) -> Value {
  do { return try await call() } catch { throw SignetError(error) }
}
