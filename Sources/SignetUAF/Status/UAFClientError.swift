/// The result codes of a client (UAF Application API and Transport Binding section 4.5).
@nonexhaustive public enum UAFClientError: UInt16, Error, Hashable, Sendable, CaseIterable {
  /// The operation succeeded.
  case noError = 0x00
  /// The client waits for an action of the user.
  case waitUserAction = 0x01
  /// The app's page was not loaded over a secure connection.
  case insecureTransport = 0x02
  /// The user cancelled the operation.
  case userCancelled = 0x03
  /// The client supports the version of no message.
  case unsupportedVersion = 0x04
  /// No authenticator on this device meets the server's policy.
  case noSuitableAuthenticator = 0x05
  /// The server's message violates the protocol.
  case protocolError = 0x06
  /// The application does not trust the caller.
  case untrustedFacetID = 0x07
  /// The key is permanently lost: remove it from the server and register again.
  case keyDisappearedPermanently = 0x09
  /// The authenticator denied access.
  case authenticatorAccessDenied = 0x0C
  /// The transaction cannot be displayed faithfully.
  case invalidTransactionContent = 0x0D
  /// The user did not act in time.
  case userNotResponsive = 0x0E
  /// The authenticator is out of resources.
  case insufficientAuthenticatorResources = 0x0F
  /// The user is locked out after too many failures.
  case userLockout = 0x10
  /// The user is not enrolled in the authenticator.
  case userNotEnrolled = 0x11
  /// Any other error.
  case unknown = 0xFF
}

extension MessageFailure {
  /// The error that a client reports for a request with this failure.
  package var clientError: UAFClientError {
    switch self {
    case .unsupportedVersion: .unsupportedVersion
    case .unknownExtension: .unknown
    default: .protocolError
    }
  }
}
