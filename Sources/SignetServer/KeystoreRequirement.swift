public import SignetProtocol

/// The weakest keystore of a device that a server accepts.
///
/// The device itself states its keystore; nothing attests it.
public enum KeystoreRequirement: String, Hashable, Sendable, CaseIterable {
  /// Any keystore, including a file.
  case any
  /// Hardware, or a program that simulates hardware.
  case simulated
  /// Hardware that does not state that it is simulated.
  case hardware

  /// Returns true if a device with this description is accepted.
  public func accepts(_ device: DeviceDescription) -> Bool {
    switch self {
    case .any: true
    case .simulated: device.keystore != .software
    case .hardware: device.keystore != .software && !device.isSimulated
    }
  }
}

extension DeviceDescription {
  /// The device's keystore as it states itself, for people and the audit log.
  var keystoreText: String { isSimulated ? "\(keystore.rawValue) (simulated)" : keystore.rawValue }
}
