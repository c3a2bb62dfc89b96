import SignetUAF

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
