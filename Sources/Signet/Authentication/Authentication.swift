public import SignetCrypto
public import SignetVault

/// A credential of the user, which opens a container or one of its keys under its protection policy.
///
/// All operations that use keys accept one: codes, transactions and their lists, sessions, verification, finishing an activation,
/// and a deletion. Operations that change credentials require the password itself: enabling biometrics or the passcode, changing
/// or resetting the password, recovery codes, and a renewal. `nil` means no credential: if the device protects alone, or if a
/// signature uses the key that ``Device/verify(_:for:key:)`` has cached. ``Device/biometricStatus(for:key:)`` and
/// ``Device/passcodeStatus(for:key:)`` tell which credentials other than the password are possible.
@nonexhaustive public enum Authentication: Sendable {
  /// The password of the container or the key: UTF-8 as typed.
  case password(SharedSecretBox)
  /// A finger or a face, after ``Device/enableBiometrics(for:key:password:)``.
  ///
  /// The user reads the reason; the app receives hints to show while the sensor waits. Cancelling the task cancels the match.
  case biometrics(reason: String, hints: @Sendable (BiometricHint) -> Void = { _ in })
  /// The passcode of the device, after ``Device/enablePasscode(for:key:password:)``.
  ///
  /// The user reads the reason; the conversation puts the system's questions to them.
  case passcode(reason: String, conversation: any PasscodeConversation)
}

/// A credential for a container or one of its keys that may be enabled in addition to the password.
public enum UnlockMethod: String, Sendable, Hashable, CaseIterable {
  /// A finger or a face.
  case biometrics
  /// The passcode of the device.
  case passcode
}

/// The state of biometrics for a container on this device.
@nonexhaustive public enum BiometricStatus: String, Sendable, Hashable, CaseIterable, CustomStringConvertible
{
  /// A finger or a face opens the container.
  case enabled
  /// The device supports it, but the user has not enabled it.
  case notEnabled
  /// There is no sensor, or no software for it.
  case notCapable
  /// The user has not enrolled a finger or a face.
  case notEnrolled
  /// It was enabled, but a finger or a face was enrolled or removed since; the password enables it again.
  case invalidated
  /// The protection policy of the container does not offer it.
  case notOffered

  init(_ state: BiometricAuthentication) {
    self =
      switch state {
      case .enabled: .enabled
      case .notEnabled: .notEnabled
      case .notCapable: .notCapable
      case .notEnrolled: .notEnrolled
      case .invalidated: .invalidated
      }
  }

  /// The meaning and the remedy.
  public var description: String {
    switch self {
    case .enabled: "a fingerprint opens the container, and so does the password"
    case .notEnabled: "the password opens the container; a fingerprint can be enabled"
    case .notCapable: "this device has no fingerprint reader that works; the password opens the container"
    case .notEnrolled: "no finger is enrolled; enrol one in the system's settings (fprintd-enroll)"
    case .invalidated:
      "a finger was enrolled or removed, so fingerprints do not open the container any more; enable them again with the password"
    case .notOffered: "the server's policy does not let a fingerprint open this container"
    }
  }
}

/// The state of the device passcode for a container.
@nonexhaustive public enum PasscodeStatus: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// The passcode opens the container.
  case enabled
  /// The device supports it, but the user has not enabled it.
  case notEnabled
  /// The system has no service to check it.
  case notCapable
  /// The protection policy of the container does not offer it.
  case notOffered

  /// The meaning and the remedy.
  public var description: String {
    switch self {
    case .enabled: "the passcode of the device opens the container, and so does the password"
    case .notEnabled: "the password opens the container; the passcode of the device can be enabled"
    case .notCapable:
      "this device has no way to check its passcode (no service “signet” of PAM); the password opens the container"
    case .notOffered: "the server's policy does not let the device's passcode open this container"
    }
  }
}
