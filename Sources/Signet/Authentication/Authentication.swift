public import SignetCrypto
public import SignetVault

/// How a user shows who they are, to open what the protection policy of a container, or of one of its keys, protects.
///
/// It is taken by what uses keys: codes, transactions and their lists, sessions, verification, finishing an activation, and
/// a deletion. What changes the ways of opening takes the password itself: enabling one, changing or resetting the password,
/// recovery codes, and a renewal. `nil` stands for nothing: where the device alone protects, and where a signature uses up what
/// ``Device/verify(_:for:key:)`` has kept. ``Device/biometricStatus(for:key:)`` and ``Device/passcodeStatus(for:key:)`` say what
/// else than the password will do.
@nonexhaustive public enum Authentication: Sendable {
  /// With the password of the container or the key: UTF-8 as typed.
  case password(SharedSecretBox)
  /// With a finger or a face, once ``Device/enableBiometrics(for:key:password:)`` has allowed that.
  ///
  /// The reason is what the person will read; the hints say what to show while the sensor waits. Cancelling the task calls it
  /// off.
  case biometrics(reason: String, hints: @Sendable (BiometricHint) -> Void = { _ in })
  /// With the passcode of the device, once ``Device/enablePasscode(for:key:password:)`` has allowed that.
  ///
  /// The reason is what the person will read; the conversation asks them what the system wants to know.
  case passcode(reason: String, conversation: any PasscodeConversation)
}
