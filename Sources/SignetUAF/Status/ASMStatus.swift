/// The status codes of an authenticator-specific module (UAF ASM API section 3.2).
package enum ASMStatus: UInt16, Error, Hashable, Sendable, CaseIterable {
  case ok = 0x00
  case error = 0x01
  case accessDenied = 0x02
  case userCancelled = 0x03
  case cannotRenderTransactionContent = 0x04
  case keyDisappearedPermanently = 0x09
  case authenticatorDisconnected = 0x0B
  case userNotResponsive = 0x0E
  case insufficientAuthenticatorResources = 0x0F
  case userLockout = 0x10
  case userNotEnrolled = 0x11

  /// The error that the client reports to the app, after it has tried other authenticators if ``asksForOthers``.
  package var clientError: UAFClientError {
    switch self {
    case .ok: .noError
    case .error: .unknown
    case .accessDenied: .authenticatorAccessDenied
    case .userCancelled: .userCancelled
    case .cannotRenderTransactionContent: .invalidTransactionContent
    case .keyDisappearedPermanently: .keyDisappearedPermanently
    case .authenticatorDisconnected: .noSuitableAuthenticator
    case .userNotResponsive: .userNotResponsive
    case .insufficientAuthenticatorResources: .insufficientAuthenticatorResources
    case .userLockout: .userLockout
    case .userNotEnrolled: .userNotEnrolled
    }
  }

  /// Indicates whether the client should try other authenticators before it reports the error.
  package var asksForOthers: Bool {
    self == .authenticatorDisconnected || self == .insufficientAuthenticatorResources
  }
}
