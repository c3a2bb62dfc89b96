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
  ///   - isInsecureAllowed: True to accept plain HTTP, for tests only.
  /// - Throws: ``PushAuthFailure``: `insecureEndpoint`, `endpointsApart`, `invalid`.
  public init(
    registration: String, authentication: String, allowingInsecure isInsecureAllowed: Bool = false
  ) throws(PushAuthFailure) {
    let first = try Self.origin(registration, "registration endpoint", isInsecureAllowed)
    let second = try Self.origin(authentication, "authentication endpoint", isInsecureAllowed)
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

  /// Returns scheme, host and port in lower case.
  private static func origin(
    _ url: String, _ name: String, _ isInsecureAllowed: Bool
  ) throws(PushAuthFailure) -> String {
    guard url.utf8.count <= maximumByteCount else {
      throw .invalid(name, reason: "is longer than \(maximumByteCount) bytes")
    }
    // With other characters, two parsers may disagree about the URL (RFC 3986 section 2).
    let disallowed = Set("\"<>\\^`{|}#".utf8)
    guard url.utf8.allSatisfy({ 0x21...0x7E ~= $0 && !disallowed.contains($0) }) else {
      throw .invalid(name, reason: "has characters that are not allowed in a URL")
    }
    guard let delimiter = url.firstRange(of: "://") else { throw .insecureEndpoint(name) }
    let scheme = url[..<delimiter.lowerBound].lowercased()
    guard scheme == "https" || scheme == "http" && isInsecureAllowed else { throw .insecureEndpoint(name) }
    var authority = url[delimiter.upperBound...].prefix { $0 != "/" && $0 != "?" }.lowercased()
    guard !authority.isEmpty, !authority.hasPrefix(":"), !authority.contains("@") else {
      throw .invalid(name, reason: "names no host, or a user")
    }
    for end in [":443", ":"] where scheme == "https" && authority.hasSuffix(end) {
      authority.removeLast(end.count)
    }
    let path = url[delimiter.upperBound...].drop { $0 != "/" }.prefix { $0 != "?" }
    guard !path.split(separator: "/").contains("..") else {
      throw .invalid(name, reason: "has .. in its path")
    }
    return "\(scheme)://\(authority)"
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
