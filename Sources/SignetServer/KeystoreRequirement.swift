public import SignetWire

/// What a server asks of the keystore of a device: the least that it accepts.
///
/// It goes by what the device says of itself; nothing attests it.
public enum KeystoreRequirement: String, Hashable, Sendable, CaseIterable {
  /// Any keystore, a file too.
  case any
  /// Hardware, or a program that plays hardware.
  case simulated
  /// Hardware that does not say that it is a program.
  case hardware

  /// Whether a device that describes itself so is accepted.
  public func accepts(_ device: DeviceDescription) -> Bool {
    switch self {
    case .any: true
    case .simulated: device.keystore != .software
    case .hardware: device.keystore != .software && !device.isSimulated
    }
  }
}

extension DeviceDescription {
  /// What keeps the device's secrets, as it says itself, for people and the audit log.
  var keystoreText: String { isSimulated ? "\(keystore.rawValue) (simulated)" : keystore.rawValue }
}
