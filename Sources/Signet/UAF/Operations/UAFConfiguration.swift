/// Where a UAF server is, and how long things may take.
public struct UAFConfiguration: Hashable, Sendable {
  /// Scheme, host, port and the path before all others, without a slash at the end.
  public private(set) var baseURL: String
  /// Asks for a registration; below the base URL, like all paths.
  public var registrationRequestPath = "/uaf/1.1/request/registration/"
  /// Takes the answer to a registration.
  public var registrationResponsePath = "/uaf/1.1/registration/"
  /// Asks for an authentication.
  public var authenticationRequestPath = "/uaf/1.1/request/authentication/"
  /// Takes the answer to an authentication.
  public var authenticationResponsePath = "/uaf/1.1/authentication/"
  /// Asks for a deregistration.
  public var deregistrationRequestPath = "/uaf/1.1/request/deregistration/"
  /// Keeps the dispatch targets.
  public var dispatchTargetResourcePath = "/token/dispatch/targets/"
  /// Answers questions of devices.
  public var deviceResourcePath = "/devices/"
  /// Seconds that one HTTP request may take, 1 to 86,400.
  public var networkTimeoutSeconds = 60
  /// Seconds that a person may take for one answer; a running cool-down comes on top.
  public var interactionTimeoutSeconds = 240
  /// Further servers that codes and links may lead to: `https://host[:port]`.
  ///
  /// A code is anybody's to make. It leads to the server of ``baseURL``, to one of these, or to one where this device has an account.
  public var otherServers: [String] = []
  /// What is tried again after a successful authentication, where the server has left the authorization at another place.
  public var authorizationRetry = UAFRetryPolicy.constant(maximumRetries: 3, delay: .seconds(1))

  /// Names a server.
  ///
  /// - Parameter baseURL: `https://host[:port]`, with the path that all others have before them, if there is one.
  /// - Throws: ``UAFConfigurationFailure``.
  public init(baseURL: String) throws(UAFConfigurationFailure) {
    if baseURL.lowercased().hasPrefix("http://") { throw .plainHTTP }
    guard UAFPlace(baseURL) != nil, !baseURL.contains("?"), baseURL.utf8.count <= 1_024 else {
      throw .baseURL
    }
    var url = baseURL
    while url.hasSuffix("/") { url.removeLast() }
    self.baseURL = url
  }

  /// Names a server by its host alone, with the paths of a server that is set up as usual.
  ///
  /// - Parameter host: The name, with the port if it is another than 443.
  /// - Throws: ``UAFConfigurationFailure``.
  public init(host: String) throws(UAFConfigurationFailure) {
    guard !host.contains("/") else { throw .baseURL }
    try self.init(baseURL: "https://\(host)/nevisfido")
  }

  /// The same at another server: `url` gives scheme, host and port, and the path stays.
  ///
  /// - Throws: ``UAFConfigurationFailure``.
  package func at(server url: String) throws(UAFConfigurationFailure) -> UAFConfiguration {
    if url.lowercased().hasPrefix("http://") { throw .plainHTTP }
    guard let place = UAFPlace(url), let own = UAFPlace(baseURL) else { throw .baseURL }
    var other = self
    other.baseURL = try UAFConfiguration(baseURL: place.origin + (own.path == "/" ? "" : own.path)).baseURL
    return other
  }
}

/// Why a configuration is of no use.
@nonexhaustive public enum UAFConfigurationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The URL is one of plain HTTP; nothing is ever sent to it.
  case plainHTTP
  /// The URL is none, or has a user, a query or a fragment.
  case baseURL

  /// What to change.
  public var description: String {
    switch self {
    case .plainHTTP: "only https is spoken; write https://"
    case .baseURL:
      "the server's URL must be https://host[:port] with a path at most; leave out user, query and fragment"
    }
  }
}
