/// What a server says about a message (UAF Application API and Transport Binding section 3.1).
package enum UAFStatus: Int, Hashable, Sendable, CaseIterable {
  case ok = 1200
  /// Taken, but not done yet.
  case accepted = 1202
  /// Not understood.
  case badRequest = 1400
  /// The user has to be authenticated for this, or the key is another's.
  case unauthorized = 1401
  /// Not for this user; not to be tried again.
  case forbidden = 1403
  case notFound = 1404
  case timeout = 1408
  /// There is no metadata of the authenticator's model.
  case unknownAAID = 1480
  /// There is no such key; the client should delete it.
  case unknownKeyID = 1481
  case channelBindingRefused = 1490
  /// The challenge is unknown, too old, or was used before.
  case requestInvalid = 1491
  case unacceptableAuthenticator = 1492
  case revokedAuthenticator = 1493
  case unacceptableKey = 1494
  case unacceptableAlgorithm = 1495
  case unacceptableAttestation = 1496
  case unacceptableClientCapabilities = 1497
  case unacceptableContent = 1498
  case internalError = 1500
}

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

/// What an authenticator-specific module says to the client (UAF ASM API section 3.2).
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

  /// What the client says to the app; where it says that others should be tried first, after they were.
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

  /// Whether the client should try other authenticators before it says so.
  package var asksForOthers: Bool {
    self == .authenticatorDisconnected || self == .insufficientAuthenticatorResources
  }
}

/// What an authenticator says to its module (UAF Authenticator Commands section 4.4).
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

  /// The commands whose answers the module reads.
  package enum Command: Hashable, Sendable {
    case getInfo
    case register
    case sign
    case deregister
    case openSettings
  }

  /// What the module says to the client about the answer to a command.
  ///
  /// - Parameters:
  ///   - command: What was asked.
  ///   - moduleCanDoIt: Whether the module does by itself what the authenticator does not support.
  /// - Returns: The status.
  package func asmStatus(for command: Command, moduleCanDoIt: Bool = false) -> ASMStatus {
    switch self {
    case .ok: .ok
    case .unknown, .attestationNotSupported, .parametersInvalid, .timeout: .error
    case .accessDenied: .accessDenied
    // Only registration can enrol the user; at any other time, who is not enrolled has no access.
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
