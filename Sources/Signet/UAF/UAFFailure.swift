public import SignetPolicy
import SignetUAF
import SignetVault

/// Why a UAF operation did not go on.
///
/// After a recoverable failure the user can be asked again; after any other the operation is over.
@nonexhaustive public enum UAFFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The operation is over: what the protocol calls it, and what was wrong.
  case `protocol`(UAFClientError, String)
  /// The PIN or the password is wrong; the status says how many tries are left, and when the next may be made.
  case wrongSecret(aaid: String, LockStatus)
  /// The PIN or the password was not tried, since the last was wrong a moment ago; this does not count.
  case coolingDown(aaid: String, LockStatus)
  /// A new PIN or password cannot be one.
  case unusableSecret(aaid: String, UAFSecretProblem)
  /// The finger or the face is none of those enrolled; too many in a row lock the key.
  case notRecognised(aaid: String)
  /// The passcode of the device was wrong.
  case wrongPasscode(aaid: String)
  /// The device failed: its vault, its keystore or its sensors.
  case device(SignetFailure)

  /// What a UAF client says of it.
  public var clientError: UAFClientError {
    switch self {
    case .protocol(let error, _): error
    case .wrongSecret, .coolingDown, .notRecognised, .wrongPasscode: .authenticatorAccessDenied
    case .unusableSecret, .device: .unknown
    }
  }

  /// What a module says of it, for a report to the server; `nil` where none was asked.
  public var asmStatusCode: UInt16? {
    switch self {
    case .protocol(let error, _): ASMStatus(error)?.rawValue
    case .wrongSecret, .coolingDown, .notRecognised, .wrongPasscode: ASMStatus.accessDenied.rawValue
    case .unusableSecret, .device: ASMStatus.error.rawValue
    }
  }

  /// Whether the user can be asked again.
  public var isRecoverable: Bool {
    switch self {
    case .protocol, .device: false
    case .wrongSecret, .coolingDown, .unusableSecret, .notRecognised, .wrongPasscode: true
    }
  }

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .protocol(_, let detail): detail
    case .wrongSecret(_, let status): "that is wrong; \(Self.rest(status))"
    case .coolingDown(_, let status): "not tried: \(Self.rest(status))"
    case .unusableSecret(_, let problem): problem.description
    case .notRecognised: "not recognised; try again"
    case .wrongPasscode: "the device's passcode was wrong; try again"
    case .device(let failure): failure.description
    }
  }

  private static func rest(_ status: LockStatus) -> String {
    switch status {
    case .unlocked: "try again"
    case .lockedOut: "no try is left: remove the authenticator, and register it again"
    case .lastAttemptFailed(let remaining, let wait):
      (remaining.map { $0 == 1 ? "1 try is left" : "\($0) tries are left" } ?? "try again")
        + (wait > .zero ? "; wait \(wait.components.seconds) s before the next" : "")
    }
  }
}

/// What is wrong with a new PIN or password.
@nonexhaustive public enum UAFSecretProblem: Hashable, Sendable, CustomStringConvertible {
  /// A PIN has something else than the digits 0 to 9.
  case notDigits
  /// A PIN has fewer or more digits than any may have.
  case digitCount(ClosedRange<Int>)
  /// A PIN is one that everybody uses.
  case tooCommon
  /// The text cannot be a password.
  case text(OpaqueStringFailure)
  /// It is the present one.
  case sameAsBefore

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .notDigits: "a PIN has digits only; use 0 to 9"
    case .digitCount(let counts): "a PIN has \(counts.lowerBound) to \(counts.upperBound) digits"
    case .tooCommon: "that PIN is among the first that anybody tries; choose another"
    case .text(let failure): failure.description
    case .sameAsBefore: "that is the present one; choose another"
    }
  }
}

extension ASMStatus {
  /// What a module said where the client says this; nil where the client found it out by itself.
  init?(_ error: UAFClientError) {
    // A module that has lost an authenticator is not what there was.
    let known = Self.allCases.filter { $0 != .authenticatorDisconnected }
    guard let status = known.first(where: { $0.clientError == error }) else { return nil }
    self = status
  }
}

extension AuthenticatorStatus {
  /// What an authenticator says where the vault failed.
  init(_ failure: VaultFailure) {
    self =
      switch failure {
      case .lockedOut, .wiped, .biometric(.lockedOut), .passcode(.lockedOut): .userLockout
      case .wrongPassword, .waiting, .biometric(.mismatch), .passcode(.mismatch): .accessDenied
      case .biometric(.cancelled), .passcode(.cancelled): .userCancelled
      case .biometric(.timedOut), .passcode(.timedOut): .userNotResponsive
      case .biometric(.notEnrolled): .userNotEnrolled
      case .keystore(.full), .diskFull: .insufficientResources
      case .keystore(let failure) where failure.remedy == .registerAnew: .keyDisappearedPermanently
      case .biometricsInvalidated, .noSuchSlot, .noSuchRecord, .noSuchContainer: .keyDisappearedPermanently
      default: .unknown
      }
  }
}

extension UAFFailure {
  /// A failure of the vault while the user was verified, or a command was done.
  ///
  /// - Parameters:
  ///   - failure: What the vault says.
  ///   - aaid: The authenticator.
  ///   - status: What there is to tell about its lock.
  ///   - command: During which command.
  init(
    _ failure: VaultFailure, _ aaid: AAID, _ status: LockStatus = .unlocked,
    during command: AuthenticatorStatus.Command = .sign
  ) {
    switch failure {
    case .wrongPassword(remaining: 0): self = .protocol(.userLockout, Self.lockedOut)
    case .wrongPassword: self = .wrongSecret(aaid: aaid.text, status)
    case .waiting(let wait, let remaining):
      self = .coolingDown(aaid: aaid.text, .lastAttemptFailed(remaining: remaining, retryAfter: wait))
    case .unusablePassword(let problem): self = .unusableSecret(aaid: aaid.text, .text(problem))
    case .biometric(.mismatch): self = .notRecognised(aaid: aaid.text)
    case .passcode(.mismatch): self = .wrongPasscode(aaid: aaid.text)
    default:
      let answer = AuthenticatorStatus(failure)
      guard answer != .unknown else {
        self = .device(SignetFailure(failure))
        return
      }
      let detail =
        switch answer {
        case .userLockout: Self.lockedOut
        case .keyDisappearedPermanently:
          "the key is gone for good (\(failure)); remove it at the server, and register again"
        default: failure.description
        }
      self = .protocol(answer.asmStatus(for: command).clientError, detail)
    }
  }

  private static let lockedOut =
    "locked after too many failures: remove the authenticator, and register it again"
}
