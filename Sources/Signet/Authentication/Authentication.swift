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
