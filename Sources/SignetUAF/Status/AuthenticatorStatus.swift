/// The status codes of an authenticator (UAF Authenticator Commands section 4.4).
package enum AuthenticatorStatus: UInt16, Error, Hashable, Sendable, CaseIterable {
  case ok = 0x00
  case unknown = 0x01
  case accessDenied = 0x02
  case userNotEnrolled = 0x03
  case cannotRenderTransactionContent = 0x04
  case userCancelled = 0x05
  case commandNotSupported = 0x06
  case attestationNotSupported = 0x07
  case parametersInvalid = 0x08
  case keyDisappearedPermanently = 0x09
  case timeout = 0x0A
  case userNotResponsive = 0x0E
  case insufficientResources = 0x0F
  case userLockout = 0x10

  /// The commands whose answers the module handles.
  package enum Command: Hashable, Sendable, CaseIterable {
    case getInfo
    case register
    case sign
    case deregister
    case openSettings
  }

  /// Returns the status that the module reports to the client for the answer to a command.
  ///
  /// - Parameters:
  ///   - command: The command that was answered.
  ///   - moduleCanDoIt: True if the module itself implements the operation that the authenticator does not support.
  /// - Returns: The module's status.
  package func asmStatus(for command: Command, moduleCanDoIt: Bool = false) -> ASMStatus {
    switch self {
    case .ok: .ok
    case .unknown, .attestationNotSupported, .parametersInvalid, .timeout: .error
    case .accessDenied: .accessDenied
    // Only a registration can enrol the user; for other commands, a user who is not enrolled is denied access.
    case .userNotEnrolled: command == .register ? .userNotEnrolled : .accessDenied
    case .cannotRenderTransactionContent: .cannotRenderTransactionContent
    case .userCancelled: .userCancelled
    case .commandNotSupported: moduleCanDoIt ? .ok : .error
    case .keyDisappearedPermanently: .keyDisappearedPermanently
    case .userNotResponsive: .userNotResponsive
    case .insufficientResources: .insufficientAuthenticatorResources
    case .userLockout: .userLockout
    }
  }
}
