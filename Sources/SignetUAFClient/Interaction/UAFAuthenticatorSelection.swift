/// A question for the authenticator to use, put even if there is only one.
public struct UAFAuthenticatorSelection: Hashable, Sendable {
  /// The account that the operation is for.
  public let account: UAFAccount
  /// All authenticators of this device, in the server's order of preference; one that cannot be chosen has an obstacle.
  public let choices: [UAFAuthenticatorChoice]
  /// The transaction to confirm; show it before the user continues.
  public let transaction: UAFTransactionContent?

  /// Creates a question, for apps that test their screens.
  ///
  /// - Parameters:
  ///   - account: The account that the operation is for.
  ///   - choices: All authenticators of this device.
  ///   - transaction: The transaction to confirm.
  public init(
    account: UAFAccount, choices: [UAFAuthenticatorChoice], transaction: UAFTransactionContent? = nil
  ) {
    self.account = account
    self.choices = choices
    self.transaction = transaction
  }

  /// Returns whether the server's policy accepts the authenticator with an AAID.
  public func isPolicyCompliant(_ aaid: String) -> Bool {
    choices.contains { $0.authenticator.isModel(aaid) && $0.isPolicyCompliant }
  }
}

/// One authenticator in a selection, with the reason if it cannot be chosen.
public struct UAFAuthenticatorChoice: Hashable, Sendable {
  /// A reason why an authenticator cannot be chosen.
  public enum Obstacle: Hashable, Sendable, CustomStringConvertible {
    /// The device lacks the hardware or software that the authenticator needs.
    case notSupportedByHardware
    /// The user has not set it up in the settings of the device.
    case notEnrolled
    /// It is already registered for this user.
    case alreadyRegistered
    /// It is not registered for this user.
    case notRegistered
    /// The server's policy does not accept it.
    case notAccepted

    /// The reason, for display to the user.
    public var description: String {
      switch self {
      case .notSupportedByHardware: "this device does not support it"
      case .notEnrolled: "it is not set up on this device"
      case .alreadyRegistered: "it is registered already"
      case .notRegistered: "it is not registered for this user"
      case .notAccepted: "the server does not accept it"
      }
    }
  }

  /// The authenticator.
  public let authenticator: UAFAuthenticator
  /// Indicates whether the server's policy accepts the authenticator.
  public let isPolicyCompliant: Bool
  /// The reason why it cannot be chosen; `nil` if it can.
  public let obstacle: Obstacle?

  /// Creates a choice, for apps that test their screens.
  ///
  /// - Parameters:
  ///   - authenticator: The authenticator.
  ///   - isPolicyCompliant: True if the server's policy accepts it.
  ///   - obstacle: The reason why it cannot be chosen.
  public init(authenticator: UAFAuthenticator, isPolicyCompliant: Bool, obstacle: Obstacle?) {
    self.authenticator = authenticator
    self.isPolicyCompliant = isPolicyCompliant
    self.obstacle = obstacle
  }
}
