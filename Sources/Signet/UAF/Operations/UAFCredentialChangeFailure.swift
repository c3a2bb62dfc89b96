import SignetUAF

/// Why a PIN or a password was not changed.
@nonexhaustive public enum UAFCredentialChangeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// Too many wrong tries; it stays locked.
  case locked
  /// The user has none.
  case notEnrolled
  /// The person does not want to go on.
  case userCancelled
  /// The person did not answer in time.
  case userNotResponsive
  /// What this device keeps could not be read or written.
  case device(SignetFailure)

  /// What happened and what to do.
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
