import SignetHTTPServer
import SignetJSON
import SignetProtocol

/// An error answer of OpenID Connect (RFC 6749 section 5.2, CIBA sections 11, 12 and 13).
package struct OpenIDFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    case invalidRequest = "invalid_request"
    case invalidScope = "invalid_scope"
    case invalidClient = "invalid_client"
    case unauthorizedClient = "unauthorized_client"
    case expiredLoginHintToken = "expired_login_hint_token"
    case unknownUserID = "unknown_user_id"
    case missingUserCode = "missing_user_code"
    case invalidUserCode = "invalid_user_code"
    case invalidBindingMessage = "invalid_binding_message"
    case accessDenied = "access_denied"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidGrant = "invalid_grant"
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case expiredToken = "expired_token"
    case transactionFailed = "transaction_failed"
    case serverError = "server_error"
    case temporarilyUnavailable = "temporarily_unavailable"
  }

  package let code: Code
  /// The action to take: visible ASCII without quotes and backslashes.
  let detail: String
  let status: Int
  /// The delay before a retry, in seconds; `nil` if unknown.
  let retryAfter: Int64?

  /// Creates a failure; the default status is that of the code.
  init(_ code: Code, _ detail: String, status: Int? = nil, retryAfter: Int64? = nil) {
    self.code = code
    self.detail = detail
    self.retryAfter = retryAfter
    self.status = status ?? Self.status(of: code)
  }

  /// Converts a problem of the server itself, independent of the request.
  init(_ problem: Problem) {
    switch problem.code {
    case .busy: self.init(.temporarilyUnavailable, "Try again in a moment.", retryAfter: 1)
    default: self.init(.serverError, "Server error; nothing was changed. See the server's log.")
    }
  }

  /// Converts the reason why no transaction was created (CIBA section 13).
  init(asking problem: Problem) {
    switch problem.code {
    case .transactionTooMany:
      self.init(
        .accessDenied, "Too many requests were sent to the user; wait for the time in Retry-After.",
        status: 403,
        retryAfter: problem.retryAfter)
    case .noAuthenticator:
      self.init(.accessDenied, problem.detail, status: 403)
    case .userNotActive: self.init(.accessDenied, "The user's account is not active.", status: 403)
    case .contentRefused: self = .unclearBindingMessage
    case .unknown: self = .unknownUser
    case .unauthorized: self = .unauthenticated
    case .malformed: self.init(.invalidRequest, "Check binding_message and requested_expiry.")
    default: self.init(problem)
    }
  }

  /// The failure of every client that is not authenticated; only the log contains the reason.
  static let unauthenticated = Self(
    .invalidClient,
    "Authenticate as registered: with client_assertion by a key of the client, or with its id and secret by "
      + "Basic; check the clock and that the client is not revoked.")
  /// The failure for a hint that names no user.
  static let unknownUser = Self(
    .unknownUserID, "The hint names an unknown user; check login_hint, or the content of the token.")
  /// The failure for a binding message that would be displayed differently.
  static let unclearBindingMessage = Self(
    .invalidBindingMessage,
    "binding_message cannot be displayed unchanged; send 1 to 128 plain characters without a line feed.")
  /// The failure for a wrong user code, and for any code after too many wrong ones.
  static let wrongUserCode = Self(
    .invalidUserCode, "user_code is wrong; ask the user again, or have an operator unlock the user.")
  /// Creates the failure for a user code that was not checked, since this number of seconds must pass first.
  init(wrongUserCode seconds: Int64) {
    self.init(.invalidUserCode, Self.wrongUserCode.detail, retryAfter: seconds)
  }

  /// Creates the failure for an unknown name in `acr_values`.
  init(unknownACRBeside requirements: NamedRequirements) {
    self.init(
      .invalidRequest,
      "A name in acr_values is not known; known names: \(requirements.names.joined(separator: " ")).")
  }

  /// The failure for two ways to authenticate at once.
  static let twoAuthentications = Self(
    .invalidRequest,
    "Authenticate in one way: an Authorization header, or client_assertion, and no client_secret in the form."
  )

  private static func status(of code: Code) -> Int {
    switch code {
    case .invalidClient: 401
    case .serverError: 500
    case .temporarilyUnavailable: 503
    default: 400
    }
  }

  /// The text that the client receives.
  package var description: String { "\(code.rawValue): \(detail)" }

  var json: JSONObject { OpenIDError(error: code.rawValue, text: detail).json }

  var response: ServerResponse {
    var response = ServerResponse.json(json, status: status)
    response.headers["Pragma"] = "no-cache"  // RFC 6749 section 5.2
    if status == 401 { response.headers["WWW-Authenticate"] = #"Basic realm="signet", charset="UTF-8""# }
    if let retryAfter { response.headers["Retry-After"] = String(retryAfter) }
    return response
  }
}
