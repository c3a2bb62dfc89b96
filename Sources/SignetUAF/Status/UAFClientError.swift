/// What a client says to the app (UAF Application API and Transport Binding section 4.5).
package enum UAFClientError: UInt16, Error, Hashable, Sendable, CaseIterable {
  case noError = 0x00
  case waitUserAction = 0x01
  case insecureTransport = 0x02
  case userCancelled = 0x03
  case unsupportedVersion = 0x04
  case noSuitableAuthenticator = 0x05
  case protocolError = 0x06
  case untrustedFacetID = 0x07
  case keyDisappearedPermanently = 0x09
  case authenticatorAccessDenied = 0x0C
  case invalidTransactionContent = 0x0D
  case userNotResponsive = 0x0E
  case insufficientAuthenticatorResources = 0x0F
  case userLockout = 0x10
  case userNotEnrolled = 0x11
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
