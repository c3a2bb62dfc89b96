import SignetUAF

extension UAFClientError {
  /// The error and the remedy.
  var meaning: String {
    switch self {
    case .noError: "done"
    case .waitUserAction: "something has to be done by a person first"
    case .insecureTransport: "only https is spoken"
    case .userCancelled: "cancelled"
    case .unsupportedVersion: "the server speaks no version of UAF that is spoken here (1.1)"
    case .noSuitableAuthenticator: "no authenticator of this device fits what the server accepts"
    case .protocolError: "the server broke the protocol"
    case .untrustedFacetID:
      "the server does not trust this app: its list of trusted facets lacks this app's facet id"
    case .keyDisappearedPermanently: "the key is gone for good; remove it at the server, and register again"
    case .authenticatorAccessDenied: "the authenticator does not let this app use the key"
    case .invalidTransactionContent: "what is to be confirmed cannot be shown"
    case .userNotResponsive: "there was no answer in time"
    case .insufficientAuthenticatorResources: "the authenticator has no room for another key"
    case .userLockout: "locked after too many wrong tries; delete the authenticator, and register again"
    case .userNotEnrolled: "what the authenticator needs is not set up on this device"
    default: "the authenticator failed"
    }
  }
}
