import SignetUAF

/// A failure of an operation: a registration, an authentication, a deregistration, a new PIN or password.
@nonexhaustive public enum UAFOperationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The UAF client ended the operation with this error code; the detail is for developers.
  case fido(UAFClientError, detail: String? = nil)
  /// The server could not be reached, or rejected the request.
  case network(UAFNetworkProblem)
  /// A user of this name is registered at the named other server.
  case userAlreadyRegisteredInAnotherServer(String)
  /// The selected user is not registered at this server.
  case userNotRegisteredInServer(String)
  /// No authenticator of this device has this AAID.
  case noSuchAuthenticator(aaid: String)
  /// The clocks of this device and of the server differ too much.
  case clockSkewTooBig(server: String)
  /// A parameter is invalid.
  case configuration(UAFConfigurationFailure)
  /// The vault of this device could not be read or written.
  case device(SignetError)

  /// The failure and the remedy.
  public var description: String {
    switch self {
    case .fido(let code, let detail): detail ?? code.meaning
    case .network(let problem): problem.description
    case .userAlreadyRegisteredInAnotherServer(let server): "a user of this name is registered at \(server)"
    case .userNotRegisteredInServer(let server): "the user is not registered at \(server)"
    case .noSuchAuthenticator: "this device has no authenticator of this name"
    case .clockSkewTooBig: "the clock of this device differs too much from the server's; set it"
    case .configuration(let failure): failure.description
    case .device(let failure): failure.description
    }
  }
}

extension UAFClientError {
  /// The error and the remedy.
  var meaning: String {
    switch self {
    case .noError: "done"
    case .waitUserAction: "an action of the user is required first"
    case .insecureTransport: "only https is supported"
    case .userCancelled: "cancelled"
    case .unsupportedVersion: "the server supports no version of UAF that this client supports (1.1)"
    case .noSuitableAuthenticator: "no authenticator of this device matches the server's policy"
    case .protocolError: "the server broke the protocol"
    case .untrustedFacetID:
      "the server does not trust this app: its list of trusted facets lacks this app's facet id"
    case .keyDisappearedPermanently:
      "the key is permanently lost; remove it at the server, and register again"
    case .authenticatorAccessDenied: "the authenticator does not let this app use the key"
    case .invalidTransactionContent: "the transaction cannot be displayed"
    case .userNotResponsive: "there was no answer in time"
    case .insufficientAuthenticatorResources: "the authenticator has no room for another key"
    case .userLockout: "locked after too many wrong tries; delete the authenticator, and register again"
    case .userNotEnrolled: "the user verification of the authenticator is not set up on this device"
    default: "the authenticator failed"
    }
  }
}
