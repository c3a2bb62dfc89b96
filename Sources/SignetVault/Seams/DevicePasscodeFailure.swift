/// The reason why the device's passcode was not accepted.
@nonexhaustive public enum DevicePasscodeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The user or the app cancelled the verification.
  case cancelled
  /// The passcode was wrong.
  case mismatch
  /// The system accepts no more tries for now.
  case lockedOut
  /// The account has expired or may not log in now.
  case accountRefused
  /// The passcode was right but has expired: the system requires a new one first.
  case passcodeExpired
  /// A verification is already in progress.
  case busy
  /// The user did not answer in time.
  case timedOut
  /// The system has no way to verify a passcode.
  case notCapable
  /// The verification failed; the text is the system's sanitised message, for a log.
  case unavailable(String)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .cancelled: "the check of the device's passcode was cancelled"
    case .mismatch: "the device's passcode was wrong; try again"
    case .lockedOut:
      "the system accepts no more attempts for now; wait, or ask the administrator of this device"
    case .accountRefused: "the system does not let this account log in; ask the administrator of this device"
    case .passcodeExpired: "the device's passcode has expired; change it (passwd), then try again"
    case .busy: "the device's passcode is being asked for already; finish that first"
    case .timedOut: "nobody answered in time; try again"
    case .notCapable: "this device cannot check a passcode; use the password"
    case .unavailable(let detail):
      "the device's passcode could not be checked (\(detail)); try again, or use the password"
    }
  }
}
