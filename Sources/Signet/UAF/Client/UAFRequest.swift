/// What a server asks for, after it was checked and matched with this device.
public enum UAFRequest: Sendable {
  /// New keys for an account.
  case registration(UAFRegistration)
  /// Uses of keys: to sign in, or to confirm a transaction.
  case authentication(UAFAuthentication)
  /// The end of keys.
  case deregistration(UAFDeregistration)
}

/// An authenticator, and for an authentication a key of it, as the policy of a request sees it.
public struct UAFCandidate: Hashable, Sendable {
  /// The authenticator.
  public let authenticator: UAFAuthenticator
  /// The key; `nil` at registration, and where the authenticator has none for the application.
  public let key: UAFKey?
  /// Whether the server takes it, by itself or together with others.
  public let isPolicyCompliant: Bool

  /// Whether it can be chosen: the server takes it, this device has what it takes, and the user is enrolled.
  public var isUsable: Bool {
    isPolicyCompliant && authenticator.isSupportedByHardware && authenticator.isEnrolledInSystem
  }
}

/// What ties a message to the TLS connection that it goes over; a member that is `nil` is not said.
public struct UAFChannelBinding: Hashable, Sendable {
  /// Base64url of the hash of the server's certificate.
  public var serverEndPoint: String?
  /// Base64url of the server's certificate in DER.
  public var tlsServerCertificate: String?
  /// Base64url of the first Finished message of the channel.
  public var tlsUnique: String?
  /// Base64url of the client's channel id key, or `unused`.
  public var channelIDPublicKey: String?

  /// Names what is known.
  ///
  /// - Parameters:
  ///   - serverEndPoint: Base64url of the hash of the server's certificate.
  ///   - tlsServerCertificate: Base64url of the server's certificate in DER.
  ///   - tlsUnique: Base64url of the first Finished message of the channel.
  ///   - channelIDPublicKey: Base64url of the client's channel id key, or `unused`.
  public init(
    serverEndPoint: String? = nil, tlsServerCertificate: String? = nil, tlsUnique: String? = nil,
    channelIDPublicKey: String? = nil
  ) {
    self.serverEndPoint = serverEndPoint
    self.tlsServerCertificate = tlsServerCertificate
    self.tlsUnique = tlsUnique
    self.channelIDPublicKey = channelIDPublicKey
  }

  /// Says nothing: an empty object.
  public static let none = UAFChannelBinding()
}

/// What goes back to the server.
public struct UAFResponse: Hashable, Sendable {
  /// The JSON text of the list with the response: `uafResponse`, or `uafProtocolMessage`.
  public let message: String
  /// The keys that were made, or used.
  public let keys: [UAFKey]
}
