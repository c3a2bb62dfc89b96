/// What opens a slot, beside the hardware of the device.
public enum SlotKind: UInt8, Sendable, Hashable, CaseIterable {
  /// The device alone.
  case device = 1
  /// The device together with a password.
  case password = 2
  /// The device, after it has matched a finger or face of the set that was enrolled when the slot was made.
  case biometric = 3
  /// The device, after its user has entered the passcode of the operating system.
  case devicePasscode = 4
  /// The device together with a code that was printed once.
  case recovery = 5

  /// What opens it, for a sentence.
  var noun: String {
    switch self {
    case .device: "the device"
    case .password: "a password"
    case .biometric: "a biometric match"
    case .devicePasscode: "the device's passcode"
    case .recovery: "a recovery code"
    }
  }
}
