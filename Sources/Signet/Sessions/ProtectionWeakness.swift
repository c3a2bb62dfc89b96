import SignetVault

/// A weakness of the protection of a container.
@nonexhaustive
public enum ProtectionWeakness: String, Sendable, Hashable, CaseIterable,
  CustomStringConvertible
{
  /// The user is not asked for a credential: anyone who can start an app on the unlocked device can unlock a session.
  case noAuthentication
  /// The keys are bound to a file, not to hardware: an attacker who copies the user's files has them.
  case softwareKeystore

  /// The meaning and the remedy.
  public var description: String {
    switch self {
    case .noAuthentication:
      "no user authentication is required: locking ends a session, but anybody who uses this account can start another; "
        + "ask the server's operator for a protection by password"
    case .softwareKeystore:
      "the keys are tied to a file that can be copied with the user's other files; use a device with a TPM"
    }
  }
}

extension Device {
  /// Returns the known weaknesses of a container's protection on this device.
  public func weaknesses(of container: Container) -> [ProtectionWeakness] {
    var found: [ProtectionWeakness] = []
    if case .device = container.profile.protection { found.append(.noAuthentication) }
    if keystoreKind == .software { found.append(.softwareKeystore) }
    return found
  }
}
