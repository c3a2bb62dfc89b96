/// The reason why there was no biometric match.
///
/// In every case the password still works.
@nonexhaustive public enum BiometricFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The user or the app cancelled the match.
  case cancelled
  /// The sensor read a finger that is not enrolled.
  case mismatch
  /// The sensor is disabled after too many consecutive mismatches, until the password is verified.
  case lockedOut
  /// The sensor is in use by another program.
  case busy
  /// No finger touched the sensor in time.
  case timedOut
  /// The device has no sensor, or no driver for it.
  case notCapable
  /// The user has not enrolled a finger or face.
  case notEnrolled
  /// The system does not let this user or this session use the sensor.
  case notAuthorized
  /// The sensor or its service failed; the text is the system's sanitised message, for a log.
  case unavailable(String)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .cancelled: "the fingerprint check was cancelled; use the password"
    case .mismatch: "the finger was not recognised; try again, or use the password"
    case .lockedOut: "too many fingers were not recognised; use the password, then fingerprints work again"
    case .busy: "another program uses the fingerprint reader; close it, or use the password"
    case .timedOut: "nobody touched the fingerprint reader in time; try again, or use the password"
    case .notCapable: "this device has no fingerprint reader that works; use the password"
    case .notEnrolled:
      "no finger is enrolled; enrol one in the system's settings (fprintd-enroll), or use the password"
    case .notAuthorized:
      "the system does not let this session use the fingerprint reader; log in at the device itself, or use the password"
    case .unavailable(let detail): "the fingerprint reader failed (\(detail)); try again, or use the password"
    }
  }
}
