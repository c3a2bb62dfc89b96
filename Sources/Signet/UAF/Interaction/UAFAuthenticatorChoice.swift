/// One of the authenticators that a person may choose from, or may be told about.
public struct UAFAuthenticatorChoice: Hashable, Sendable {
  /// Why an authenticator is of no use for this.
  public enum Obstacle: Hashable, Sendable, CustomStringConvertible {
    /// This device has not got what it takes.
    case notSupportedByHardware
    /// The person has not set it up in the settings of the device.
    case notEnrolled
    /// It is registered for this user already.
    case alreadyRegistered
    /// It is not registered for this user.
    case notRegistered
    /// The server does not accept it.
    case notAccepted

    /// Why, for people.
    public var description: String {
      switch self {
      case .notSupportedByHardware: "this device has not got what it takes"
      case .notEnrolled: "it is not set up on this device"
      case .alreadyRegistered: "it is registered already"
      case .notRegistered: "it is not registered for this user"
      case .notAccepted: "the server does not accept it"
      }
    }
  }

  /// The authenticator.
  public let authenticator: UAFAuthenticator
  /// Whether the server's policy takes it.
  public let isPolicyCompliant: Bool
  /// Why it is of no use; `nil` for one that may be chosen.
  public let obstacle: Obstacle?

  /// Describes a choice; for apps that test their screens.
  ///
  /// - Parameters:
  ///   - authenticator: The authenticator.
  ///   - isPolicyCompliant: Whether the server's policy takes it.
  ///   - obstacle: Why it is of no use.
  public init(authenticator: UAFAuthenticator, isPolicyCompliant: Bool, obstacle: Obstacle?) {
    (self.authenticator, self.isPolicyCompliant, self.obstacle) = (authenticator, isPolicyCompliant, obstacle)
  }
}
