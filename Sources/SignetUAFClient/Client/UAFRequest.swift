/// A server's request, checked and matched with this device.
public enum UAFRequest: Sendable {
  /// A request for new keys of an account.
  case registration(UAFRegistration)
  /// A request to use keys, to log in or to confirm a transaction.
  case authentication(UAFAuthentication)
  /// A request to delete keys.
  case deregistration(UAFDeregistration)
}

/// An authenticator, and at authentication one of its keys, matched with the policy of a request.
public struct UAFCandidate: Hashable, Sendable {
  /// The authenticator.
  public let authenticator: UAFAuthenticator
  /// The key; `nil` at registration, and if the authenticator has no key of the application.
  public let key: UAFKey?
  /// Indicates whether the server's policy accepts it, alone or together with others.
  public let isPolicyCompliant: Bool

  /// Indicates whether it can be chosen: the policy accepts it, the device supports it and the user has set it up.
  public var isUsable: Bool {
    isPolicyCompliant && authenticator.isSupportedByHardware && authenticator.isEnrolledInSystem
  }
}

/// A client's response to a server's request.
public struct UAFResponse: Hashable, Sendable {
  /// The JSON text of the list with the response: `uafResponse`, or `uafProtocolMessage`.
  public let message: String
  /// The keys that were made or used.
  public let keys: [UAFKey]
}
