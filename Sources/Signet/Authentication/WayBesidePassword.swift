/// A way of opening a container, or one of its keys, that may be enabled beside the password.
public enum WayBesidePassword: String, Sendable, Hashable, CaseIterable {
  /// A finger or a face.
  case biometrics
  /// The passcode of the device.
  case passcode
}
