import SignetHTTPServer
import SignetJSON
import SignetProtocol
import SignetStorage
import SignetUAF

/// A failure with its own HTTP status, for requests outside the UAF protocol and for malformed ones.
struct UAFWebFailure: Error {
  /// A code for programs.
  enum Code: String, Sendable {
    case malformed, unauthorized, signatureInvalid, clockSkewTooBig, requestReplayed, notKeyOwner,
      otherRequest, userUnknown, targetUnknown, targetsTooMany, tooManyRequests, nameTaken,
      dispatcherUnavailable, deviceLocked
    case transactionTooMany = "transaction.tooMany"
  }

  let status: Int
  let reason: String
  let code: Code?
  /// The delay before a retry, in seconds; `nil` if unknown.
  private(set) var retryAfter: Int64?

  init(_ status: Int, _ reason: String, _ code: Code? = nil) {
    (self.status, self.reason) = (status, reason)
    self.code = code ?? (status == 400 ? .malformed : nil)
  }

  init(_ problem: Problem) {
    let code: Code? =
      switch problem.code {
      case .unauthorized: .unauthorized
      case .deviceLocked: .deviceLocked
      case .transactionTooMany: .transactionTooMany
      default: nil
      }
    self.init(problem.code.status, problem.detail, code)
    retryAfter = problem.retryAfter
  }

  /// The caller is anonymous or may not act for this user.
  static let unauthorized = UAFWebFailure(
    401, "authenticate by UAF as this user, or send the API key of a relying party", .unauthorized)

  var response: ServerResponse {
    let body = UAFError(status: Int64(status), error: reason, code: code?.rawValue)
    var response = ServerResponse.json(body.json, status: status)
    if status == 401 { response.headers["WWW-Authenticate"] = "Bearer" }
    if status == 503 { response.headers["Retry-After"] = "1" }
    if status == 429 { response.headers["Retry-After"] = String(retryAfter ?? 60) }
    return response
  }
}

extension UAFWebFailure {
  init(answering error: any Error, _ context: ServiceContext) {
    switch error {
    case let failure as UAFWebFailure: self = failure
    case let failure as UAFStatusFailure: self = failure.webFailure ?? UAFWebFailure(failure)
    default: self.init(Dialect.problem(error, context.log))
    }
  }

  /// Converts a UAF failure to an HTTP status, for answers without a UAF status.
  init(_ failure: UAFStatusFailure) {
    let status: Int =
      switch failure.status {
      case .unauthorized: 401
      case .forbidden: 403
      case .notFound: 404
      case .internalError: 500
      default: 400
      }
    self.init(status, failure.reason)
  }
}
