/// An authenticator, and for an authentication a key of it, as the policy of a request sees it.
public struct UAFCandidate: Hashable, Sendable {
  /// The authenticator.
  public let authenticator: UAFAuthenticator
  /// The key; `nil` at registration, and where the authenticator has none for the application.
  public let key: UAFKey?
  /// Whether the server takes it, by itself or together with others.
  public let isPolicyCompliant: Bool

  /// Whether it can be chosen: the server takes it, this device has what it takes, and the user is enrolled.
  public var isUsable: Bool {
    isPolicyCompliant && authenticator.isSupportedByHardware && authenticator.isEnrolledInSystem
  }
}
