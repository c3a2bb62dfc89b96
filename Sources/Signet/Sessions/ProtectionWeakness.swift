import SignetVault

/// What makes the protection of a container weaker than it looks.
@nonexhaustive
public enum ProtectionWeakness: String, Sendable, Hashable, CaseIterable,
  CustomStringConvertible
{
  /// Nothing is asked of the user: whoever can start an app on the unlocked device can unlock a session.
  case noAuthentication
  /// The keys are tied to a file, not to hardware: whoever copies the user's files has them.
  case softwareKeystore

  /// What it means and what to do.
  public var description: String {
    switch self {
    case .noAuthentication:
      "nothing is asked of the user: locking ends a session, but whoever uses this account can begin another; "
        + "ask the server's operator for a protection by password"
    case .softwareKeystore:
      "the keys are tied to a file that can be copied with the user's other files; use a device with a TPM"
    }
  }
}

extension Device {
  /// What weakens a container's protection on this device; empty if nothing does that is known here.
  public func weaknesses(of container: Container) -> [ProtectionWeakness] {
    var found: [ProtectionWeakness] = []
    if case .device = container.profile.protection { found.append(.noAuthentication) }
    if keystoreKind == .software { found.append(.softwareKeystore) }
    return found
  }
}
