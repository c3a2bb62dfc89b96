/// Why there was no match.
///
/// After each of them the password still works.
@nonexhaustive public enum BiometricFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The person, or the app, called it off.
  case cancelled
  /// The finger was read and is none of those enrolled.
  case mismatch
  /// Too many mismatches in a row: the sensor does not count any more until the password was right.
  case lockedOut
  /// Another program holds the sensor.
  case busy
  /// Nobody touched the sensor in time.
  case timedOut
  /// There is no sensor, or nothing that drives it.
  case notCapable
  /// The user has enrolled nothing.
  case notEnrolled
  /// The system does not let this user or this session use the sensor.
  case notAuthorized
  /// The sensor or its service failed; the text is the system's word for it, made harmless, for a log.
  case unavailable(String)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .cancelled: "the fingerprint was called off; use the password"
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
