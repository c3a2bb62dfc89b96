import SignetIdentifiers
public import SignetPolicy
import SignetUAF
import SignetVault

/// A failure of a UAF operation.
///
/// After a recoverable failure the user can be asked again; any other failure ends the operation.
@nonexhaustive public enum UAFFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The operation has ended: the UAF error code and a description.
  case `protocol`(UAFClientError, String)
  /// The PIN or the password is wrong; the status has the remaining attempts and the wait before the next.
  case wrongSecret(aaid: String, LockStatus)
  /// The attempt came before the wait after a failed one ended; it was not made and does not count.
  case coolingDown(aaid: String, LockStatus)
  /// The new PIN or password is not acceptable.
  case unusableSecret(aaid: String, UAFSecretProblem)
  /// The finger or the face did not match an enrolled one; too many mismatches in a row lock the key.
  case notRecognised(aaid: String)
  /// The passcode of the device was wrong.
  case wrongPasscode(aaid: String)
  /// The vault, keystore or a sensor of the device failed.
  case device(SignetError)

  /// The UAF client error code of the failure.
  public var clientError: UAFClientError {
    switch self {
    case .protocol(let error, _): error
    case .wrongSecret, .coolingDown, .notRecognised, .wrongPasscode: .authenticatorAccessDenied
    case .unusableSecret, .device: .unknown
    }
  }

  /// The ASM status code of the failure, for a report to the server; `nil` if no ASM was involved.
  public var asmStatusCode: UInt16? {
    switch self {
    case .protocol(let error, _): ASMStatus(error)?.rawValue
    case .wrongSecret, .coolingDown, .notRecognised, .wrongPasscode: ASMStatus.accessDenied.rawValue
    case .unusableSecret, .device: ASMStatus.error.rawValue
    }
  }

  /// Indicates whether the user can be asked again.
  public var isRecoverable: Bool {
    switch self {
    case .protocol, .device: false
    case .wrongSecret, .coolingDown, .unusableSecret, .notRecognised, .wrongPasscode: true
    }
  }

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .protocol(_, let detail): detail
    case .wrongSecret(_, let status): "the PIN or password is wrong; \(Self.retryText(status))"
    case .coolingDown(_, let status): "not tried: \(Self.retryText(status))"
    case .unusableSecret(_, let problem): problem.description
    case .notRecognised: "not recognised; try again"
    case .wrongPasscode: "the device's passcode was wrong; try again"
    case .device(let failure): failure.description
    }
  }

  private static func retryText(_ status: LockStatus) -> String {
    switch status {
    case .unlocked: "try again"
    case .lockedOut: "no try is left: remove the authenticator, and register it again"
    case .lastAttemptFailed(let remaining, let wait):
      (remaining.map { $0 == 1 ? "1 try is left" : "\($0) tries are left" } ?? "try again")
        + (wait > .zero ? "; wait \(wait.components.seconds) s before the next" : "")
    }
  }
}

/// A problem of a new PIN or password.
@nonexhaustive public enum UAFSecretProblem: Hashable, Sendable, CustomStringConvertible {
  /// The PIN contains a character other than 0 to 9.
  case notDigits
  /// The PIN is shorter or longer than the limits allow.
  case digitCount(ClosedRange<Int>)
  /// The PIN is easy to guess.
  case tooCommon
  /// The text cannot be used as a password.
  case text(OpaqueStringFailure)
  /// It equals the current one.
  case sameAsBefore

  /// The problem and the remedy.
  public var description: String {
    switch self {
    case .notDigits: "a PIN has digits only; use 0 to 9"
    case .digitCount(let counts): "a PIN has \(counts.lowerBound) to \(counts.upperBound) digits"
    case .tooCommon: "that PIN is easy to guess; choose another"
    case .text(let failure): failure.description
    case .sameAsBefore: "that is the current one; choose another"
    }
  }
}

extension ASMStatus {
  /// The ASM status for a client error; `nil` for an error that only the client reports.
  init?(_ error: UAFClientError) {
    // `authenticatorDisconnected` is excluded: these authenticators cannot be disconnected, and the client itself reports
    // the same error.
    let candidates = Self.allCases.filter { $0 != .authenticatorDisconnected }
    guard let status = candidates.first(where: { $0.clientError == error }) else { return nil }
    self = status
  }
}

extension AuthenticatorStatus {
  /// The authenticator status for a failure of the vault.
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
  /// Converts a failure of the vault during a user verification or a command.
  ///
  /// - Parameters:
  ///   - failure: The failure of the vault.
  ///   - aaid: The authenticator.
  ///   - status: The lock status of the key.
  ///   - command: The command during which it failed.
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
        self = .device(SignetError(failure))
        return
      }
      let detail =
        switch answer {
        case .userLockout: Self.lockedOut
        case .keyDisappearedPermanently:
          "the key is permanently lost (\(failure)); remove it at the server, and register again"
        default: failure.description
        }
      self = .protocol(answer.asmStatus(for: command).clientError, detail)
    }
  }

  private static let lockedOut =
    "locked after too many failures: remove the authenticator, and register it again"
}
