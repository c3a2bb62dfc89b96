import SignetUAF

/// A reason why a PIN or a password was not changed.
@nonexhaustive public enum UAFCredentialChangeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The PIN or password is locked for good after too many failed attempts.
  case locked
  /// The user has no PIN or password on this device.
  case notEnrolled
  /// The user cancelled.
  case userCancelled
  /// The user did not answer in time.
  case userNotResponsive
  /// The vault of this device could not be read or written.
  case device(SignetFailure)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .locked: UAFClientError.userLockout.meaning
    case .notEnrolled: "there is nothing to change for this user on this device"
    case .userCancelled: UAFClientError.userCancelled.meaning
    case .userNotResponsive: UAFClientError.userNotResponsive.meaning
    case .device(let failure): failure.description
    }
  }
}
