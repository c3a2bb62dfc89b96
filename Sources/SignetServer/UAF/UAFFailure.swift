import SignetUAF
import SignetWire

/// What a client is answered in the place of what it wants: a status of the protocol, in a body with HTTP 200.
struct UAFFailure: Error {
  /// The protocol's status.
  let status: UAFStatus
  /// What is wrong, for who looks for it.
  let reason: String
  /// What is answered in its place, with an HTTP status that says when to come again; `nil` for nothing.
  private(set) var webFailure: UAFWebFailure?

  init(_ status: UAFStatus, _ reason: String) { (self.status, self.reason) = (status, reason) }

  /// An address has too much under way.
  static var tooManyRequests: UAFFailure {
    var failure = UAFFailure(.forbidden, "too many requests of this address are open; try later")
    failure.webFailure = UAFWebFailure(429, failure.reason, .tooManyRequests)
    return failure
  }

  /// What goes with an operation has ended before it, however.
  static let transactionOver = UAFFailure(.timeout, "the transaction has ended before")

  /// Something befell the user or the device while an operation was under way.
  static let operationForbidden = UAFFailure(
    .forbidden, "the operation has ended: the device is locked, or the user is not active; ask the operator")

  init(_ refusal: UAFRefusal) { self.init(refusal.status, refusal.description) }

  init(_ failure: MessageFailure) { self.init(.badRequest, failure.description) }

  /// The failure that an error is.
  init(answering error: any Error, _ context: ServiceContext) {
    self = error as? UAFFailure ?? UAFFailure(Dialect.problem(error, context.log))
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

/// Reads a part of the protocol's messages.
func readingUAF<Value>(
  _ read: @autoclosure () throws(MessageFailure) -> Value
) throws(UAFFailure) -> Value {
  do { return try read() } catch { throw UAFFailure(error) }
}
