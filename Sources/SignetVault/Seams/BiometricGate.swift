/// What tells whether the person at the device is one who enrolled a finger or a face.
///
/// A gate says yes or no and keeps no key: what a match may open is the vault's to bind. Back ends: fprintd on Linux,
/// LocalAuthentication on Apple's systems, `SimulatedBiometrics` in tests.
public protocol BiometricGate: Sendable {
  /// Finds out what is possible now.
  ///
  /// - Returns: The state; a set compares equal as long as nobody adds or removes a finger.
  /// - Throws: ``BiometricFailure``, where it could not be found out: that is not the same as ``BiometricState/notCapable``.
  func state() async throws(BiometricFailure) -> BiometricState

  /// Asks for a match, and returns when there is one.
  ///
  /// Cancelling the task ends the match and frees the sensor before the call throws ``BiometricFailure/cancelled``.
  ///
  /// Each finger that is not recognised is reported once, before the next one is tried: by
  /// ``BiometricHint/notRecognised(remaining:)``, or where it is the last of this match, by throwing
  /// ``BiometricFailure/mismatch``. A vault counts what is reported.
  ///
  /// - Parameters:
  ///   - reason: Why, as the person will read it; it ends no sentence of ours.
  ///   - hints: Is told what to show while it lasts; never called again after the return. It may hold its thread for as long
  ///     as a write to the disk takes. Where the system has a sheet of its own it is not called at all.
  /// - Returns: The set that was enrolled while the finger was matched. Compare this one with what a key is bound to,
  ///   not one that was read before.
  /// - Throws: ``BiometricFailure``.
  func match(
    _ reason: String, hints: @escaping @Sendable (BiometricHint) -> Void
  ) async throws(BiometricFailure) -> EnrolledSet

  /// Forgets the mismatches that led, or would lead, to ``BiometricFailure/lockedOut``: the person has shown in another way,
  /// by the password, who they are.
  ///
  /// Does nothing where the system counts by itself.
  func endLockout() async
}

extension BiometricGate {
  /// Asks for a match without showing hints.
  ///
  /// - Parameter reason: Why, as the person will read it.
  /// - Returns: The set that was enrolled while the finger was matched.
  /// - Throws: ``BiometricFailure``.
  public func match(_ reason: String) async throws(BiometricFailure) -> EnrolledSet {
    try await match(reason, hints: { _ in })
  }
}

/// What biometrics can do on this device now.
public enum BiometricState: Hashable, Sendable {
  /// There is no sensor, or nothing that drives it.
  case notCapable
  /// There is a sensor, and the user has enrolled nothing.
  case notEnrolled
  /// The user can be matched against this set.
  case ready(EnrolledSet)
}

/// The identity of all that a user has enrolled: changes when a finger is added or removed.
///
/// How much it sees depends on the system; `docs/threat-model.md` says what fprintd does not tell.
public struct EnrolledSet: Hashable, Sendable {
  /// 32 bytes, the same for the same set.
  public let digest: [UInt8]

  /// Takes a digest as it was stored.
  ///
  /// - Precondition: 32 bytes.
  public init(digest: [UInt8]) {
    precondition(digest.count == 32, "an enrolled set is named by 32 bytes")
    self.digest = digest
  }
}

/// What a person should see while the sensor waits.
@nonexhaustive public enum BiometricHint: Hashable, Sendable {
  /// The sensor is on: put a finger there, for this reason.
  case touchSensor(reason: String)
  /// The sensor is on: draw a finger over it, for this reason.
  case swipeSensor(reason: String)
  /// The sensor could not read; the same again.
  case tryAgain
  /// The finger was drawn too quickly or not far enough.
  case swipeTooShort
  /// The finger was not in the middle.
  case notCentred
  /// Lift the finger, then the same again.
  case liftAndTryAgain
  /// That was no enrolled finger; so many tries remain in this match, and the sensor goes on to wait.
  case notRecognised(remaining: Int)
}
