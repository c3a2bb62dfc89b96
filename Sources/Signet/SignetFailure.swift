public import SignetIntegrity
public import SignetOATH
public import SignetPolicy
public import SignetPushAuth
public import SignetTransport
public import SignetVault
public import SignetWire

/// Why an operation of the SDK failed: one family, with a stable number for each case.
///
/// The numbers never change and are never used again; new cases get new numbers.
@nonexhaustive public enum SignetFailure: Error, Hashable, Sendable, CustomStringConvertible {
  // What the user can mend.
  /// The password is wrong; so many tries are left, `nil` where there is no limit.
  case wrongPassword(remaining: Int?)
  /// The new password breaks these rules of the policy.
  case passwordRefused([PasswordViolation])
  /// The policy asks for a dictionary check of the new password, which could not be made.
  case dictionary(PasswordDictionaryFailure)
  /// A password is needed and none was given.
  case passwordRequired
  /// The user cancelled the password prompt of an activation or a renewal.
  case activationCancelled
  /// Too many wrong passwords: what it protects stays locked.
  case lockedOut
  /// After wrong passwords the next may be tried when so much time has passed; this one was not tried and does not count.
  case waiting(Duration, remaining: Int?)
  /// Too many wrong passwords: what it protects was erased.
  case wiped
  /// The new password is one of the latest so many.
  case passwordUsedBefore(within: Int)
  /// The password may be changed from this time on, in seconds since 1970.
  case passwordTooYoung(until: Int64)
  /// The password is older than its policy allows; it must be changed first.
  case passwordExpired
  /// The recovery code is not the one that was printed last.
  case wrongRecoveryCode
  /// There was no biometric match, or it was called off; the password still works.
  case biometrics(BiometricFailure)
  /// A finger or a face was enrolled or removed since biometrics were enabled; the password enables them again.
  case biometricsInvalidated
  /// The device's passcode was not accepted, or was called off; the password still works.
  case passcode(DevicePasscodeFailure)
  /// This way of opening the container is not enabled; the password is.
  case wayNotEnabled(WayBesidePassword)
  /// The protection policy of the container does not offer this way of opening it.
  case wayNotOffered(WayBesidePassword)
  /// One of the failures above is about the password of this key, not about the container's.
  indirect case key(Key.Usage, SignetFailure)

  // Activation.
  /// What was scanned or pasted is no activation code.
  case activationCode(ActivationCodeFailure)
  /// The app stopped an activation or a renewal.
  case activationAborted
  /// The server refused: wrong user or invite, or an invite that is used, expired or exhausted.
  case activationRefused
  /// What the server sent does not prove that it knows the invite; nothing was kept.
  case serverNotAuthentic
  /// The name that the user gave the device can't be sent.
  case deviceNameRefused(WireFailure)
  /// The server's offer holds something that this build does not do.
  case unsupportedProfile(WireFailure)
  /// The server calls itself by another URL than the activation code does; nothing was kept.
  ///
  /// What a container signs names its server, so both sides must use one URL. `offered` is not proved yet: go there only
  /// if it is known to be right.
  case serverNameMismatch(offered: ServerURL)
  /// The server does not accept what keeps this device's secrets.
  case unsupportedDevice(Problem)
  /// The server dropped a renewal that was begun; the container is as it was.
  case renewalDropped

  // The device.
  /// There is no such container.
  case noSuchContainer
  /// The target of pushes, or its name, can't be sent.
  case pushTargetRefused(WireFailure)
  /// The reason for an end can't be sent.
  case reasonRefused(WireFailure)
  /// The vault failed.
  case vault(VaultFailure)

  // Accounts that were imported.
  /// There is no such account.
  case noSuchAccount
  /// The secret may not leave this device: its server, or who imported it, does not allow that.
  case notExportable
  /// The account has something that an account cannot have.
  case interchange(InterchangeFailure)
  /// The challenge, or something that the suite wants beside it, was refused; no counter was used up.
  case ocra(OCRAFailure)
  /// The account answers challenges; it makes no codes without one.
  case challengeWanted
  /// The account makes codes without a challenge.
  case challengeNotWanted
  /// It is there already, and stays as it is: what it is, and of which account.
  case alreadyEnrolled(String, account: Account.ID)
  /// A URI, a message or an answer of push messages was not accepted.
  case pushAuth(PushAuthFailure)
  /// The server of push messages refused: the status of its answer, and why in its words, which are at most 200 code points of anything.
  case pushAuthRefused(status: Int, reason: String = "")

  // Locks of containers and accounts.
  /// The container or the account is locked, and by whom: by the policy ``AccountLock/lockingPolicy``, by hand, or by its server.
  case accountLocked(AccountLock)
  /// It was not locked or unlocked by hand.
  case accountLock(AccountLockFailure)
  /// The account policies that come with it are malformed.
  case accountPolicy(AccountPolicyFailure)
  /// The device is not as the account policies that come with it demand; nothing was enrolled.
  case accountPolicyBroken([AccountPolicyBreach])
  /// The server had the container deleted: it and its keys are gone.
  case containerWiped
  /// The server takes no one-time codes of this container for now, but signatures only.
  case codesNotTaken(reason: String)

  // Tampering.
  /// The program, or the system around it, is being tampered with: nothing was opened. Listing, denying and removing still work.
  case integrity(IntegrityFailure)

  // Sessions and the data of apps.
  /// App data was not encrypted or decrypted; above all because the session is locked.
  case appData(AppDataFailure)
  /// The session that apps share could not be asked.
  case sharedSession(SharedSessionFailure)

  // The server.
  /// The server could not be reached, or not trusted.
  case transport(TransportFailure)
  /// The server's answer is not of this protocol.
  case unexpectedAnswer(status: Int)
  /// The server does not know this container any more.
  case containerUnknown
  /// The server signs with a key that this container does not know, and that none that it knows leads to.
  case serverKeyUnknown
  /// The server refused the request; the problem says why.
  case refused(Problem)

  // Transactions.
  /// The transaction has expired.
  case transactionExpired
  /// There is no such transaction, for this container.
  case noSuchTransaction
  /// Another decision came first.
  case transactionDecided
  /// Several containers could decide what was scanned; the user has to choose one of these.
  case severalContainers([Container])
  /// What is to be signed, or was scanned, would not show as it is, or is no transaction.
  case contentRefused(WireFailure)
  /// The server does not offer this decision.
  case decisionNotAllowed
  /// The user has cancelled the transaction, on whatever device, or the relying party has withdrawn it.
  case transactionCancelled
  /// The number is not the one that the relying party shows; the problem says how many tries are left.
  case wrongNumber(Problem)
  /// An approval of this transaction needs a number of so many digits; 0 where it has none.
  case numberRequired(digits: Int)

  /// The stable number of the case.
  public var number: Int {
    switch self {
    case .wrongPassword: 100
    case .passwordRefused: 101
    case .passwordRequired: 105
    case .dictionary: 111
    case .activationCancelled: 109
    case .lockedOut: 110
    case .waiting: 115
    case .wiped: 112
    case .passwordUsedBefore: 113
    case .passwordTooYoung: 104
    case .passwordExpired: 103
    case .wrongRecoveryCode: 114
    case .biometrics: 120
    case .biometricsInvalidated: 121
    case .passcode: 122
    case .wayNotEnabled: 123
    case .wayNotOffered: 124
    case .key(_, let failure): failure.number
    case .activationCode: 200
    case .activationAborted: 201
    case .activationRefused: 202
    case .serverNotAuthentic: 203
    case .unsupportedProfile: 204
    case .deviceNameRefused: 205
    case .serverNameMismatch: 206
    case .unsupportedDevice: 207
    case .renewalDropped: 208
    case .noSuchContainer: 8
    case .reasonRefused: 9
    case .pushTargetRefused: 14
    case .vault: 10
    case .noSuchAccount: 11
    case .notExportable: 12
    case .interchange: 13
    case .ocra: 15
    case .challengeWanted: 16
    case .challengeNotWanted: 17
    case .accountLocked: 500
    case .accountLock: 501
    case .accountPolicy: 502
    case .accountPolicyBroken: 503
    case .codesNotTaken: 504
    case .containerWiped: 505
    case .integrity: 600
    case .alreadyEnrolled: 18
    case .pushAuth: 19
    case .pushAuthRefused: 20
    case .appData: 400
    case .sharedSession: 401
    case .transport: 303
    case .unexpectedAnswer: 302
    case .containerUnknown: 300
    case .refused: 305
    case .serverKeyUnknown: 306
    case .transactionExpired: 1000
    case .noSuchTransaction: 1004
    case .transactionDecided: 1003
    case .severalContainers: 1009
    case .contentRefused: 1008
    case .decisionNotAllowed: 1005
    case .transactionCancelled: 1002
    case .wrongNumber: 1006
    case .numberRequired: 1007
    }
  }

  /// Whether another way of opening has failed, and the password can be asked for instead.
  public var isMendedByPassword: Bool {
    switch self {
    case .biometrics, .biometricsInvalidated, .passcode, .wayNotEnabled, .wayNotOffered, .passwordRequired:
      true
    case .key(_, let failure): failure.isMendedByPassword
    default: false
    }
  }

  /// What happened and what to do; never a password, a code or a key.
  public var description: String {
    switch self {
    case .wrongPassword(nil): "the password is wrong; try again"
    case .wrongPassword(0): "the password is wrong and no try is left; \(Self.wayBack())"
    case .wrongPassword(1): "the password is wrong; 1 try is left"
    case .wrongPassword(let remaining?): "the password is wrong; \(remaining) tries are left"
    case .passwordRefused(let violations):
      "the password is not allowed: \(violations.map(\.description).joined(separator: "; "))"
    case .passwordRequired: "a password is needed; enter it"
    case .dictionary(let failure): failure.description
    case .activationCancelled: "it was cancelled; nothing was changed, begin again"
    case .lockedOut: "locked after too many wrong passwords; \(Self.wayBack())"
    case .waiting(let wait, let remaining): VaultFailure.waiting(wait, remaining: remaining).description
    case .wiped:
      "everything that the password protected was erased after too many wrong ones; ask for a new activation code"
    case .passwordUsedBefore(let count): VaultFailure.passwordUsedBefore(within: count).description
    case .passwordTooYoung(let until): VaultFailure.passwordTooYoung(until: until).description
    case .passwordExpired: "the password is too old; change it (signet password change), then go on"
    case .wrongRecoveryCode: VaultFailure.wrongRecoveryCode.description
    case .biometrics(let failure): failure.description
    case .biometricsInvalidated:
      "a finger or face was enrolled or removed since biometrics were enabled; use the password, and enable them again with it"
    case .passcode(let failure): failure.description
    case .wayNotEnabled(.biometrics): "biometrics are not enabled for this container; use the password"
    case .wayNotEnabled(.passcode):
      "the device's passcode is not enabled for this container; use the password"
    case .wayNotOffered(.biometrics):
      "the server's policy does not let biometrics open this container; use the password"
    case .wayNotOffered(.passcode):
      "the server's policy does not let the device's passcode open this container; use the password"
    case .key(let key, .passwordExpired):
      "\(key): the password is too old; change it (signet password change --key \(key.name)), then go on"
    case .key(let key, .wrongPassword(0)):
      "\(key): the password is wrong and no try is left; \(Self.wayBack(of: key))"
    case .key(let key, .lockedOut): "\(key): locked after too many wrong passwords; \(Self.wayBack(of: key))"
    case .key(let key, let failure): "\(key): \(failure)"
    case .activationCode(let failure): failure.description
    case .activationAborted: "it was stopped; nothing was changed, begin again"
    case .activationRefused:
      "the server refused the activation; check the user id and the invite code, or ask for a new one (an invite is good once, for a limited time and for a few tries)"
    case .serverNotAuthentic:
      "the server did not prove that it knows the invite; nothing was kept: check the server URL with who gave you the code"
    case .deviceNameRefused(let failure): "choose another name for the device: \(failure)"
    case .unsupportedProfile(let failure):
      "the server offers something that this version does not do: \(failure)"
    case .serverNameMismatch(let offered):
      "the server calls itself \(offered.shortForm); nothing was kept: if that is the right server, use that URL, or ask for a new activation code"
    case .unsupportedDevice(let problem):
      "the server does not accept this device: \(problem.detail.isEmpty ? problem.code.title : problem.detail)"
    case .renewalDropped: "the server dropped the renewal; the keys are as before: renew again"
    case .noSuchContainer: "there is no such container; list those there are"
    case .pushTargetRefused(let failure): "name another target of pushes: \(failure)"
    case .reasonRefused(let failure): "give another reason: \(failure)"
    case .vault(let failure): failure.description
    case .noSuchAccount: "there is no such account; list those there are (signet account list)"
    case .notExportable:
      "this secret may not leave the device; set up the other authenticator with its issuer"
    case .interchange(let failure): failure.description
    case .ocra(let failure): failure.description
    case .challengeWanted: "this account answers challenges; give it one (signet account respond)"
    case .challengeNotWanted: "this account takes no challenge; ask for a code (signet otp)"
    case .accountLocked(let lock): lock.description
    case .accountLock(let failure): failure.description
    case .accountPolicy(let failure): failure.description
    case .accountPolicyBroken(let breaches):
      "this device is not as it is asked to be, so nothing was added: \(breaches.map(\.description).joined(separator: "; "))"
    case .containerWiped:
      "the server had the container deleted from this device, with its keys; ask its operator why"
    case .codesNotTaken(let reason):
      "the server takes no one-time codes of this device for now\(reason.isEmpty ? "" : " (\(reason))"); approve a transaction instead"
    case .alreadyEnrolled(let what, let account):
      "there are \(what) already, and they stay as they are; to enrol anew, remove the account with all that it has first: signet account delete \(account.shortForm)"
    case .pushAuth(let failure): failure.description
    case .pushAuthRefused(let status, ""):
      "the server did not accept it (status \(status)); begin again at the server"
    case .pushAuthRefused(let status, let reason):
      "the server did not accept it (status \(status)): \(reason)"
    case .integrity(let failure): failure.description
    case .appData(let failure): failure.description
    case .sharedSession(let failure): failure.description
    case .transport(let failure): failure.description
    case .unexpectedAnswer(let status) where (500...599).contains(status):
      "the server, or a proxy before it, failed (status \(status)); try again"
    case .unexpectedAnswer(let status):
      "the server's answer (status \(status)) is not of this protocol; check the server URL"
    case .containerUnknown: "the server does not know this container any more; activate again"
    case .serverKeyUnknown:
      "what answers does not sign with the server's key; check with its operator, then make new keys: signet renew"
    // What is unknown is better said by the detail alone.
    case .refused(let problem) where problem.code == .unknown && !problem.detail.isEmpty: problem.detail
    case .refused(let problem):
      problem.detail.isEmpty ? problem.code.title : "\(problem.code.title) \(problem.detail)"
    case .transactionExpired: "the transaction has expired; ask the other side to start again"
    case .noSuchTransaction: "there is no such transaction waiting; list those there are"
    case .transactionDecided:
      "the transaction was decided before, perhaps on another device; nothing was changed"
    case .severalContainers(let containers):
      "several users of this device could decide it: \(containers.map(\.user.text).joined(separator: ", ")); choose one"
    case .contentRefused(let failure): "it can't be shown as it is, or is no transaction: \(failure)"
    case .decisionNotAllowed: "the server does not offer this decision for the transaction"
    case .transactionCancelled:
      "the transaction was cancelled, or withdrawn by the other side; nothing was changed"
    case .wrongNumber(let problem):
      "the number is not the one that the other side shows"
        + (problem.detail.isEmpty ? "; look again" : ". \(problem.detail)")
    case .numberRequired(0): "no number is asked for; leave it out"
    case .numberRequired(let digits): "type the \(digits) digits that the other side shows"
    }
  }

  /// What to do about a lock that no password opens.
  private static func wayBack(of key: Key.Usage? = nil) -> String {
    let option = key.map { " --key \($0.name)" } ?? ""
    return
      "use the recovery code if there is one (signet recovery reset\(option)), or ask for a new activation code"
  }

  /// This failure as one about the password of a key; what has nothing to do with a password stays as it is.
  func about(_ key: Key.Usage) -> SignetFailure {
    switch self {
    case .wrongPassword, .passwordRefused, .passwordRequired, .lockedOut, .waiting, .wiped,
      .passwordUsedBefore, .passwordTooYoung, .passwordExpired, .wrongRecoveryCode, .biometricsInvalidated,
      .wayNotEnabled, .wayNotOffered:
      .key(key, self)
    default: self
    }
  }

  /// The one place where failures of the vault get the names that callers act on.
  init(_ failure: VaultFailure) {
    self =
      switch failure {
      case .wrongPassword(let remaining): .wrongPassword(remaining: remaining)
      case .lockedOut: .lockedOut
      // What was kept is not good any more.
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
      case .noSuchSlot(_, .biometric): .wayNotEnabled(.biometrics)
      case .noSuchSlot(_, .devicePasscode): .wayNotEnabled(.passcode)
      case .noSuchContainer: .noSuchContainer
      default: .vault(failure)
      }
  }

  /// The one place where problem documents get the names that callers act on.
  init(_ problem: Problem) {
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

extension SignetFailure {
  /// Whether the server has forgotten what *finish* goes on from: it was restarted, or the user took long.
  var isVoidHandshake: Bool {
    if case .refused(let problem) = self { problem.code == .handshakeVoid } else { false }
  }
}

/// Runs a call of the vault and gives its failure our type.
func vaulted<Value: ~Copyable>(
  _ call: @autoclosure () async throws(VaultFailure) -> Value
) async throws(SignetFailure) -> Value {
  do { return try await call() } catch { throw SignetFailure(error) }
}
