/// What a client says to the app (UAF Application API and Transport Binding section 4.5).
@nonexhaustive public enum UAFClientError: UInt16, Error, Hashable, Sendable, CaseIterable {
  /// The operation is done.
  case noError = 0x00
  /// The user is still to do something.
  case waitUserAction = 0x01
  /// The app's page did not come over a secure connection.
  case insecureTransport = 0x02
  /// The user called it off.
  case userCancelled = 0x03
  /// No message is of a version that the client speaks.
  case unsupportedVersion = 0x04
  /// No authenticator of this device is what the server's policy asks for.
  case noSuitableAuthenticator = 0x05
  /// The server's message breaks the rules of the protocol.
  case protocolError = 0x06
  /// The application does not trust who calls.
  case untrustedFacetID = 0x07
  /// The key is gone for good: remove it at the server, and register again.
  case keyDisappearedPermanently = 0x09
  /// The authenticator denied the access.
  case authenticatorAccessDenied = 0x0C
  /// The transaction cannot be shown as it is.
  case invalidTransactionContent = 0x0D
  /// The user did nothing in time.
  case userNotResponsive = 0x0E
  /// The authenticator has no room.
  case insufficientAuthenticatorResources = 0x0F
  /// The user is locked out after too many failures.
  case userLockout = 0x10
  /// The user has enrolled nothing.
  case userNotEnrolled = 0x11
  /// Anything else.
  case unknown = 0xFF
}

extension MessageFailure {
  /// What a client says about a request like this.
  package var clientError: UAFClientError {
    switch self {
    case .unsupportedVersion: .unsupportedVersion
    case .unknownExtension: .unknown
    default: .protocolError
    }
  }
}
