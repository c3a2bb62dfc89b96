/// The failure in an error of the UAF client, with a reason for an app to switch over.
public struct UAFCause: Sendable {
  /// The reason.
  public let reason: Reason
  /// The failure with its details, a type of `SignetUAFClient`: the server, its HTTP or UAF status, the status of the ASM.
  public let failure: any Error & Hashable & Sendable

  /// Creates a cause.
  package init(_ reason: Reason, _ failure: any Error & Hashable & Sendable) {
    self.reason = reason
    self.failure = failure
  }

  /// A reason why a UAF operation failed.
  @nonexhaustive public enum Reason: Hashable, Sendable {
    // The authenticators of this device.
    /// The operation ended with this error code of the FIDO UAF Application API; `SignetError.uafClientError` of
    /// `SignetUAFClient` has its name.
    case ended(clientError: UInt16)
    /// The PIN or the password is wrong; ask the user again.
    case wrongCredential
    /// The attempt came before the wait after a failed one ended; it does not count.
    case coolingDown
    /// The new PIN or password is not acceptable; ask the user again.
    case credentialRefused
    /// The finger, the face or the passcode of the device did not match; ask the user again.
    case notRecognised
    /// This device has no such authenticator.
    case noSuchAuthenticator

    // The accounts of this device.
    /// A user of this name is registered at another server.
    case registeredAtAnotherServer
    /// The user is not registered at this server.
    case userNotRegistered
    /// Nothing is registered on this device, or the server does not know the device.
    case deviceNotRegistered
    /// Another device of the user has this name.
    case deviceNameTaken

    // The server.
    /// The URL of the server is invalid.
    case configuration
    /// The server could not be reached, or rejected the request.
    case server
    /// The clocks of this device and of the server differ too much.
    case clockSkew
    /// The server does not allow this device to make the request.
    case forbidden
    /// The server does not offer this service.
    case serviceNotOffered

    // Out-of-band requests.
    /// The payload is invalid.
    case payloadMalformed
    /// The payload is encrypted for another device, or for a deleted key.
    case payloadNotForThisDevice
    /// The token of the payload has expired.
    case tokenExpired
    /// The token of the payload was redeemed before.
    case tokenRedeemed
    /// The payload leads to a server that this device does not trust.
    case serverNotTrusted

    /// The number and the code of the reason.
    var identity: SignetError.Identity {
      switch self {
      case .ended: SignetError.Identity(700, "uafEnded")
      case .wrongCredential: SignetError.Identity(701, "uafWrongCredential")
      case .coolingDown: SignetError.Identity(702, "uafCoolingDown")
      case .credentialRefused: SignetError.Identity(703, "uafCredentialRefused")
      case .notRecognised: SignetError.Identity(704, "uafNotRecognised")
      case .noSuchAuthenticator: SignetError.Identity(706, "uafNoSuchAuthenticator")
      case .registeredAtAnotherServer: SignetError.Identity(710, "uafRegisteredAtAnotherServer")
      case .userNotRegistered: SignetError.Identity(711, "uafUserNotRegistered")
      case .deviceNotRegistered: SignetError.Identity(712, "uafDeviceNotRegistered")
      case .deviceNameTaken: SignetError.Identity(713, "uafDeviceNameTaken")
      case .configuration: SignetError.Identity(720, "uafConfiguration")
      case .server: SignetError.Identity(721, "uafServer")
      case .clockSkew: SignetError.Identity(722, "uafClockSkew")
      case .forbidden: SignetError.Identity(723, "uafForbidden")
      case .serviceNotOffered: SignetError.Identity(724, "uafServiceNotOffered")
      case .payloadMalformed: SignetError.Identity(730, "uafPayloadMalformed")
      case .payloadNotForThisDevice: SignetError.Identity(731, "uafPayloadNotForThisDevice")
      case .tokenExpired: SignetError.Identity(732, "uafTokenExpired")
      case .tokenRedeemed: SignetError.Identity(733, "uafTokenRedeemed")
      case .serverNotTrusted: SignetError.Identity(734, "uafServerNotTrusted")
      }
    }
  }
}

extension UAFCause: Hashable {
  /// Indicates whether reason and failure are equal.
  public static func == (one: UAFCause, other: UAFCause) -> Bool {
    one.reason == other.reason && AnyHashable(one.failure) == AnyHashable(other.failure)
  }

  /// Hashes reason and failure.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(reason)
    hasher.combine(AnyHashable(failure))
  }
}
