import SignetHTTPClient

/// The endpoints of a push mechanism for registration, answers and new device tokens.
public struct PushAuthEndpoints: Sendable, Hashable {
  /// The longest URL, in bytes.
  public static let maximumByteCount = 2048

  /// The URL for the registration.
  public let registration: String
  /// The URL for answers.
  public let authentication: String
  /// The URL for a new device token: the registration endpoint with the action `refresh`.
  public let update: String

  /// Validates endpoints.
  ///
  /// - Parameters:
  ///   - registration: The URL of the parameter `r`.
  ///   - authentication: The URL of the parameter `a`.
  /// - Throws: ``PushAuthFailure``: `insecureEndpoint`, `endpointsApart`, `invalid`.
  public init(registration: String, authentication: String) throws(PushAuthFailure) {
    let first = try Self.authority(registration, "registration endpoint")
    let second = try Self.authority(authentication, "authentication endpoint")
    guard first == second else { throw .endpointsApart }
    (self.registration, self.authentication) = (registration, authentication)
    update = Self.withAction(.refresh, registration)
  }

  /// The URL at which a device polls for messages, below the registration endpoint; a Signet extension.
  public var waiting: String { "\(registration.prefix { $0 != "?" })/waiting" }

  /// Returns the endpoint of an action.
  public subscript(action: PushAuthAction) -> String {
    switch action {
    case .register: registration
    case .authenticate: authentication
    case .refresh: update
    }
  }

  /// Returns host and port of an endpoint.
  private static func authority(_ endpoint: String, _ name: String) throws(PushAuthFailure) -> String {
    guard endpoint.utf8.count <= maximumByteCount else {
      throw .invalid(name, reason: "is longer than \(maximumByteCount) bytes")
    }
    guard endpoint.prefix(8).lowercased() == "https://" else { throw .insecureEndpoint(name) }
    guard let url = HTTPSURL(endpoint) else {
      throw .invalid(name, reason: "is not a valid https URL without a user")
    }
    guard !url.path.split(separator: "/").contains("..") else {
      throw .invalid(name, reason: "has .. in its path")
    }
    return "\(url.host):\(url.port)"
  }

  /// Returns the URL with another value of `_action`.
  static func withAction(_ action: PushAuthAction, _ url: String) -> String {
    guard let queryStart = url.firstIndex(of: "?") else { return "\(url)?_action=\(action.rawValue)" }
    var hasAction = false
    var parameters = url[url.index(after: queryStart)...].split(separator: "&").map { part in
      guard part.hasPrefix("_action=") else { return String(part) }
      hasAction = true
      return "_action=\(action.rawValue)"
    }
    if !hasAction { parameters.append("_action=\(action.rawValue)") }
    return "\(url[..<queryStart])?\(parameters.joined(separator: "&"))"
  }
}

/// An action that a device requests from a server.
public enum PushAuthAction: String, Sendable, Hashable, CaseIterable {
  /// Registers the device for push messages.
  case register
  /// Answers a message.
  case authenticate
  /// Replaces the device token.
  case refresh
}
