import SignetHTTP
import SignetJSON
import SignetStorage
import SignetUAF
import SignetWire

/// What is answered with an HTTP status of its own: requests that are not UAF's, and those that are not well formed.
struct UAFWebFailure: Error {
  /// What a program can act on.
  enum Code: String, Sendable {
    case malformed, unauthorized, signatureInvalid, clockSkewTooBig, requestReplayed, notKeyOwner,
      otherRequest, userUnknown, targetUnknown, targetsTooMany, tooManyRequests, nameTaken,
      dispatcherUnavailable, deviceLocked
    case transactionTooMany = "transaction.tooMany"
  }

  let status: Int
  let reason: String
  let code: Code?
  /// When to come again, in seconds; `nil` where nobody knows.
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

  /// Nobody, or somebody else, asks.
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
  /// What answers an error of a handler.
  init(answering error: any Error, _ context: ServiceContext) {
    switch error {
    case let failure as UAFWebFailure: self = failure
    case let failure as UAFFailure: self = failure.webFailure ?? UAFWebFailure(failure)
    default: self.init(Dialect.problem(error, context.log))
    }
  }

  /// The HTTP status of a failure where there is no status of UAF in the answer.
  init(_ failure: UAFFailure) {
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
