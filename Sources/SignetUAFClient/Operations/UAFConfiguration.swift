import SignetHTTPClient

/// The address of a UAF server and the time limits of its operations.
public struct UAFConfiguration: Hashable, Sendable {
  /// The scheme, host, port and common path prefix, without a slash at the end.
  public private(set) var baseURL: String
  /// The path for registration requests; all paths are relative to the base URL.
  public var registrationRequestPath = "/uaf/1.1/request/registration/"
  /// The path for registration responses.
  public var registrationResponsePath = "/uaf/1.1/registration/"
  /// The path for authentication requests.
  public var authenticationRequestPath = "/uaf/1.1/request/authentication/"
  /// The path for authentication responses.
  public var authenticationResponsePath = "/uaf/1.1/authentication/"
  /// The path for deregistration requests.
  public var deregistrationRequestPath = "/uaf/1.1/request/deregistration/"
  /// The path of the dispatch targets.
  public var dispatchTargetResourcePath = "/token/dispatch/targets/"
  /// The path of the device service.
  public var deviceResourcePath = "/devices/"
  /// The time-out of one HTTP request, 1 to 86,400 seconds.
  public var networkTimeoutSeconds = 60
  /// The time limit for one answer of the user, in seconds; a running cool-down is added.
  public var interactionTimeoutSeconds = 240
  /// Further servers that codes and links may lead to: `https://host[:port]`.
  ///
  /// Anyone can make a code, including an attacker. A code may lead only to the server of ``baseURL``, to one of these,
  /// or to one where this device has an account.
  public var otherServers: [String] = []
  /// The retries after a successful authentication, if the server's authorization has to be fetched from another location.
  public var authorizationRetry = UAFRetryPolicy.constant(maximumRetries: 3, delay: .seconds(1))

  /// Creates a configuration.
  ///
  /// - Parameter baseURL: `https://host[:port]`, with the path prefix of the server if it has one.
  /// - Throws: ``SignetError``: `configuration`.
  public init(baseURL: String) throws(SignetError) {
    do throws(UAFConfigurationFailure) { self.baseURL = try Self.normalized(baseURL) } catch {
      throw error.signetError
    }
  }

  /// The URL without slashes at its end.
  private static func normalized(_ baseURL: String) throws(UAFConfigurationFailure) -> String {
    if baseURL.lowercased().hasPrefix("http://") { throw .plainHTTP }
    guard HTTPSURL(baseURL) != nil, !baseURL.contains("?"), baseURL.utf8.count <= 1_024 else {
      throw .baseURL
    }
    var url = baseURL
    while url.hasSuffix("/") { url.removeLast() }
    return url
  }

  /// Creates a configuration from the host, with the default path prefix `/nevisfido`.
  ///
  /// - Parameter host: The host name, with the port if it is not 443.
  /// - Throws: ``SignetError``: `configuration`.
  public init(host: String) throws(SignetError) {
    guard !host.contains("/") else { throw UAFConfigurationFailure.baseURL.signetError }
    try self.init(baseURL: "https://\(host)/nevisfido")
  }

  /// Returns this configuration for another server: `url` gives scheme, host and port, and the path stays.
  ///
  /// - Throws: ``UAFConfigurationFailure``.
  package func at(server url: String) throws(UAFConfigurationFailure) -> UAFConfiguration {
    if url.lowercased().hasPrefix("http://") { throw .plainHTTP }
    guard let serverURL = HTTPSURL(url), let base = HTTPSURL(baseURL) else { throw .baseURL }
    var other = self
    other.baseURL = try Self.normalized(serverURL.origin + (base.path == "/" ? "" : base.path))
    return other
  }
}

/// A reason why a configuration is invalid.
@nonexhaustive public enum UAFConfigurationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The URL has the scheme `http`; no request is ever sent to it.
  case plainHTTP
  /// The URL is invalid, or has a user, a query or a fragment.
  case baseURL

  /// The change to make.
  public var description: String {
    switch self {
    case .plainHTTP: "only https is supported; write https://"
    case .baseURL:
      "the server's URL must be https://host[:port] with a path at most; leave out user, query and fragment"
    }
  }
}
