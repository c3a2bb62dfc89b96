/// A credential for a container or one of its keys that may be enabled in addition to the password.
public enum UnlockMethod: String, Sendable, Hashable, CaseIterable {
  /// A finger or a face.
  case biometrics
  /// The passcode of the device.
  case passcode
}
