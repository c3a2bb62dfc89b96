/// The means of opening a slot, in addition to the device's hardware.
public enum SlotKind: UInt8, Sendable, Hashable, CaseIterable {
  /// The device alone.
  case device = 1
  /// The device and a password.
  case password = 2
  /// The device, after a biometric match in the set that was enrolled when the slot was made.
  case biometric = 3
  /// The device, after its user has entered the passcode of the operating system.
  case devicePasscode = 4
  /// The device and a code that was shown once.
  case recovery = 5

  /// A noun phrase for the means of opening, for use in a sentence.
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
