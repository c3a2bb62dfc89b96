/// A biometric sensor that decides whether the person at the device has enrolled a finger or a face.
///
/// A gate answers yes or no and keeps no key: the vault binds keys to a match. Back ends: fprintd on Linux,
/// LocalAuthentication on Apple's systems, `SimulatedBiometrics` in tests.
public protocol BiometricGate: Sendable {
  /// Returns the current capability and the enrolled set.
  ///
  /// - Returns: The state; two sets are equal unless a finger was added or removed in between.
  /// - Throws: ``BiometricFailure`` if the state is unknown, which differs from ``BiometricState/notCapable``.
  func state() async throws(BiometricFailure) -> BiometricState

  /// Requests a match, and returns after a match.
  ///
  /// Cancelling the task ends the match and frees the sensor before the call throws ``BiometricFailure/cancelled``.
  ///
  /// The gate reports each mismatch exactly once, before it reads the next finger. It reports with
  /// ``BiometricHint/notRecognised(remaining:)``, or throws ``BiometricFailure/mismatch`` for the last one of this match. A
  /// vault counts these reports.
  ///
  /// - Parameters:
  ///   - reason: The reason shown to the user, as a separate text and not as part of a sentence.
  ///   - hints: Receives hints to show during the match, never after the return. It may block its thread for the duration of
  ///     a disk write. If the system shows its own dialog, it is not called.
  /// - Returns: The set that was enrolled during the match. Compare this set with the one that a key is bound to, not an
  ///   earlier one.
  /// - Throws: ``BiometricFailure``.
  func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet

  /// Resets the mismatches that count towards ``BiometricFailure/lockedOut``, after the user was verified by the password.
  ///
  /// It does nothing if the system itself counts mismatches.
  func endLockout() async
}

extension BiometricGate {
  /// Requests a match without showing hints.
  ///
  /// - Parameter reason: The reason shown to the user.
  /// - Returns: The set that was enrolled during the match.
  /// - Throws: ``BiometricFailure``.
  public func match(_ reason: String) async throws(BiometricFailure) -> EnrolledSet {
    try await match(reason, hints: { _ in })
  }
}

/// The biometric capability of this device now.
public enum BiometricState: Hashable, Sendable {
  /// The device has no sensor, or no driver for it.
  case notCapable
  /// The device has a sensor, but the user has not enrolled a finger or face.
  case notEnrolled
  /// The user can be matched against this set.
  case ready(EnrolledSet)
}

/// The identity of a user's enrolled set; it changes when a finger is added or removed.
///
/// Its precision depends on the system; `docs/threat-model.md` lists the changes that fprintd does not report.
public struct EnrolledSet: Hashable, Sendable {
  /// 32 bytes, equal for the same set.
  public let digest: [UInt8]

  /// Creates a set from a stored digest.
  ///
  /// - Precondition: 32 bytes.
  public init(digest: [UInt8]) {
    precondition(digest.count == 32, "an enrolled set is named by 32 bytes")
    self.digest = digest
  }
}

/// A hint to show while the sensor waits.
@nonexhaustive public enum BiometricHint: Hashable, Sendable {
  /// The sensor is on: the user must touch it, for this reason.
  case touchSensor(reason: String)
  /// The sensor is on: the user must swipe a finger over it, for this reason.
  case swipeSensor(reason: String)
  /// The sensor could not read the finger; the user must repeat the action.
  case tryAgain
  /// The swipe was too quick or too short.
  case swipeTooShort
  /// The finger was not centred.
  case notCentred
  /// The user must lift the finger and repeat the action.
  case liftAndTryAgain
  /// The finger is not enrolled; `remaining` tries are left in this match, and the sensor continues to wait.
  case notRecognised(remaining: Int)
}
