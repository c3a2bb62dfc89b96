/// An authenticator, and at authentication one of its keys, matched with the policy of a request.
public struct UAFCandidate: Hashable, Sendable {
  /// The authenticator.
  public let authenticator: UAFAuthenticator
  /// The key; `nil` at registration, and if the authenticator has no key of the application.
  public let key: UAFKey?
  /// Indicates whether the server's policy accepts it, alone or together with others.
  public let isPolicyCompliant: Bool

  /// Indicates whether it can be chosen: the policy accepts it, the device supports it and the user has set it up.
  public var isUsable: Bool {
    isPolicyCompliant && authenticator.isSupportedByHardware && authenticator.isEnrolledInSystem
  }
}
