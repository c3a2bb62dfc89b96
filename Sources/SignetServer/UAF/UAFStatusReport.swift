import SignetJSON
import SignetProtocol
import SignetStorage
import SignetSystem
import SignetUAF

extension UAFStatusReport {
  /// Creates the report of an operation for the party that ordered it.
  ///
  /// - Parameters:
  ///   - session: The operation from ``ServiceContext/settled(_:)``; `nil` if there is none.
  ///   - transaction: The transaction that the operation decides, if any.
  init(_ session: UAFOperationRecord?, answering transaction: TransactionRecord? = nil) {
    let end = session?.end
    // True if something else has ended the transaction.
    let isEnded = session?.hasEndedWithTransaction == true && transaction?.state != .pending
    self.init(
      status: session.map(Self.status) ?? "unknown",
      timestamp: session.map { (end?.time ?? $0.created) * 1_000 }, user: session?.user?.text,
      uafStatus: end.map { Int64($0.status) }, asmStatus: end?.asmStatus.map { Int64($0) },
      clientError: end?.clientError.map { Int64($0) },
      authenticators: end.map { Self.authenticators($0.authenticators) },
      token: session?.tokenDigest == nil ? nil : session.map { Token($0) },
      transaction: isEnded ? transaction?.state.rawValue : nil)
  }

  /// Parses the keys that a row has as JSON; returns none if the row was altered.
  private static func authenticators(_ text: String) -> [Authenticator] {
    do { return try [Authenticator].shape.read(JSONValue(parsing: Array(text.utf8)), "authenticators") } catch
    {
      return []
    }
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

extension UAFStatusReport.Token {
  fileprivate init(_ session: UAFOperationRecord) {
    let result: Result = session.isTokenTimedOut ? .tokenTimedOut : .tokenRedeemed
    self.init(
      target: session.target, result: session.state == .tokenCreated ? nil : result,
      dispatcher: session.dispatcher.map { UAFDispatched.Information(name: $0, response: nil) })
  }
}

extension UAFOperationRecord {
  /// True if the token expired before it was redeemed.
  fileprivate var isTokenTimedOut: Bool {
    state == .failed && request == nil && end?.status == UAFStatus.timeout.rawValue
  }
}

extension ServiceContext {
  /// Returns an operation in its current state.
  ///
  /// The storage ends an expired operation before its state is reported, so it stays expired if the clock is set back.
  ///
  /// - Parameter session: The operation as read.
  /// - Throws: ``StorageFailure``.
  /// - Returns: The operation in its current state.
  func settled(_ session: UAFOperationRecord) async throws -> UAFOperationRecord {
    guard session.hasExpired(at: clock.now) else { return session }
    let end = UAFOperationEnd(status: UAFStatus.timeout.rawValue, time: clock.now)
    let event = AuditEvent.uafResponseRefused(
      session: session.id, user: session.user, status: end.status, asm: nil,
      reason: "the operation has expired")
    return try await storage.expireUAFOperation(session.id, end, audit: audit(by: .anyone)(event)) ?? session
  }
}
