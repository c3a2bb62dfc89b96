import SignetHTTPClient

/// An authorization for a call to a server, or the login that the call belongs to.
@nonexhaustive public enum UAFAuthorization: Hashable, Sendable, CustomStringConvertible {
  /// Cookies that a server has set.
  case cookies([UAFCookie])
  /// A bearer token.
  case jwt(String)
  /// A JWS that the key of this device signs for each call; for deregistration.
  case jws

  /// The kind, without any secret.
  public var description: String {
    switch self {
    case .cookies(let cookies): "cookies (\(cookies.count))"
    case .jwt: "jwt"
    case .jws: "jws"
    }
  }
}

extension UAFAuthorization {
  /// Adds the cookies or the bearer token to a request.
  func authorize(_ request: inout HTTPRequest) {
    switch self {
    case .cookies(let cookies):
      request.cookies += cookies.filter { $0.isSent(to: request.url) }
        .compactMap { RequestCookie(name: $0.name, value: $0.value) }
    case .jwt(let token): request.headers.append(("Authorization", "Bearer \(token)"))
    case .jws: break
    }
  }
}
