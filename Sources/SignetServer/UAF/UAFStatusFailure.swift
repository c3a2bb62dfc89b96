import SignetProtocol
import SignetUAF

/// A failure that a client receives: a status of the protocol, in a body with HTTP status 200.
struct UAFStatusFailure: Error {
  let status: UAFStatus
  /// The reason as text, for logs and descriptions.
  let reason: String
  /// An HTTP failure to send instead, with the delay before a retry; `nil` for none.
  private(set) var webFailure: UAFWebFailure?

  init(_ status: UAFStatus, _ reason: String) { (self.status, self.reason) = (status, reason) }

  /// Too many operations of one address are open.
  static var tooManyRequests: UAFStatusFailure {
    var failure = UAFStatusFailure(
      .forbidden, "too many requests from this address are open; try again later")
    failure.webFailure = UAFWebFailure(429, failure.reason, .tooManyRequests)
    return failure
  }

  /// The transaction of the operation has ended before, with any outcome.
  static let transactionEnded = UAFStatusFailure(.timeout, "the transaction has already ended")

  /// The user was deactivated or the device was locked while the operation was open.
  static let operationForbidden = UAFStatusFailure(
    .forbidden, "the operation has ended: the device is locked, or the user is not active; ask the operator")

  init(_ refusal: UAFRefusal) { self.init(refusal.status, refusal.description) }

  init(_ failure: MessageFailure) { self.init(.badRequest, failure.description) }

  init(answering error: any Error, _ context: ServiceContext) {
    self = error as? UAFStatusFailure ?? UAFStatusFailure(Dialect.problem(error, context.log))
  }

  init(_ problem: Problem) {
    let status: UAFStatus =
      switch problem.code {
      case .unauthorized, .containerUnknown: .unauthorized
      case .forbidden, .transactionTooMany, .userNotActive, .deviceLocked, .containerAltered,
        .noAuthenticator:
        .forbidden
      case .unknown: .notFound
      case .malformed, .contentRefused: .badRequest
      default: .internalError
      }
    self.init(status, problem.detail)
    if problem.code == .transactionTooMany { webFailure = UAFWebFailure(problem) }
  }
}

/// Parses a part of the protocol's messages and converts its failure.
func readingUAF<Value>(
  _ read: @autoclosure () throws(MessageFailure) -> Value
) throws(UAFStatusFailure) -> Value {
  do { return try read() } catch { throw UAFStatusFailure(error) }
}
