import SignetJSON
import SignetStorage
import SignetUAF
import SignetWire

/// How an operation stands, for who ordered it.
enum UAFStatusReport {
  /// The members of the answer.
  ///
  /// - Parameters:
  ///   - session: The operation, as ``ServiceContext/settled(_:)`` has it; `nil` where there is none.
  ///   - transaction: The transaction that it is to answer, if one.
  /// - Returns: `unknown` for none.
  static func json(
    _ session: UAFOperationRecord?, answering transaction: TransactionRecord? = nil
  ) -> JSONObject {
    guard let session else { return ["status": "unknown"] }
    var object: JSONObject = [
      "status": .string(status(of: session)),
      "timestamp": .integer((session.end?.time ?? session.created) * 1_000),
    ]
    if let user = session.user { object["userId"] = .string(user) }
    if let end = session.end {
      object["uafStatusCode"] = .integer(Int64(end.status))
      if let code = end.asmStatus { object["asmStatusCode"] = .integer(Int64(code)) }
      if let code = end.clientError { object["clientErrorCode"] = .integer(Int64(code)) }
      do throws(JSONFailure) {
        object["authenticators"] = try JSONValue(parsing: Array(end.authenticators.utf8))
      } catch { object["authenticators"] = [] }
    }
    // How others have ended what this was to answer.
    if session.hasEndedWithTransaction, let transaction, transaction.state != .pending {
      object["transactionStatus"] = .string(transaction.state.rawValue)
    }
    if session.tokenDigest != nil {
      var token: JSONObject = [:]
      if let target = session.target { token["dispatchTargetExtId"] = .string(target) }
      if session.state != .tokenCreated {
        token["tokenResult"] = session.isTokenTimedOut ? "tokenTimedOut" : "tokenRedeemed"
      }
      if let dispatcher = session.dispatcher {
        token["dispatcherInformation"] = ["name": .string(dispatcher)]
      }
      object["tokenInformation"] = .object(token)
    }
    return object
  }

  private static func status(of session: UAFOperationRecord) -> String {
    switch session.state {
    case .tokenCreated: "tokenCreated"
    case .requested:
      session.operation == UAFOperation.registration.rawValue ? "clientRegistering" : "clientAuthenticating"
    case .succeeded: "succeeded"
    case .failed: "failed"
    }
  }
}

extension UAFOperationRecord {
  /// Whether the time of its token was over before anybody redeemed it.
  fileprivate var isTokenTimedOut: Bool {
    state == .failed && request == nil && end?.status == UAFStatus.timeout.rawValue
  }
}

extension ServiceContext {
  /// An operation as it stands: one whose time is over ends with that before anybody is told, so that it stays so where the clock is set
  /// back.
  ///
  /// - Parameter session: As it was read.
  /// - Throws: ``StorageFailure``.
  /// - Returns: As it is now.
  func settled(_ session: UAFOperationRecord) async throws -> UAFOperationRecord {
    guard session.isOver(at: clock.now) else { return session }
    let end = UAFSessionEnd(status: UAFStatus.timeout.rawValue, time: clock.now)
    let event = AuditEvent.uafResponseRefused(
      session: session.id, user: session.user, status: end.status, asm: nil,
      reason: "the time of the operation is over")
    return try await storage.expireUAFSession(session.id, end, audit: audit(by: .anyone)(event)) ?? session
  }
}
