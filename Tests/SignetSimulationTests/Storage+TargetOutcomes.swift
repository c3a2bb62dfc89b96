import AccountModel
import SignetCrypto
import SignetStorage

// Targets of UAF tokens, and the tokens.
extension Storage {
  /// Makes a step about a target or an operation sent to it.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - event: Makes the events of the attempt.
  ///   - time: The time.
  /// - Returns: The outcome that the client sees.
  /// - Throws: ``StorageFailure``.
  func outcomeOfTarget(
    _ step: Step, _ event: @escaping @Sendable (String) -> AuditRecord, at time: Int64
  ) async throws -> String {
    let done = event("done")
    switch step {
    case .addTarget(let target, let user, let device):
      let record = UAFTargetRecord(
        id: "\(target)", user: "\(user)", device: device.map { Hex.encode(Sample.device($0)) }, name: target,
        dispatcher: nil, sealedTarget: nil, signatureKey: [4], encryptionKey: nil, created: time)
      return try await addUAFTarget(record, limit: 1000, audit: done) ? "done" : "too many"
    case .removeTarget(let target):
      return try await removeUAFTarget("\(target)", audit: done) ? "done" : "nothing"
    case .removeUAF(let user, let device):
      return try await removeUAFDevice(Hex.encode(Sample.device(device)), of: "\(user)", audit: done)
        ? "done" : "nothing"
    case .token(let session, let target, let user, let isRegistration, let request, let party):
      var record = Sample.token(
        "\(session)", isRegistration: isRegistration, of: "\(user)", for: "\(target)", at: time,
        expires: time + Model.sessionLifetime)
      (record.transaction, record.requester) = (request.map { "\($0)" }, party)
      let begun = record
      let word: @Sendable (AdmissionOutcome) -> String = { $0 == .added ? "done" : "\($0)" }
      return word(try await addUAFOperation(begun, limits: Sample.limits) { event(word($0)) })
    case .redeem(let session):
      return try await redeemUAFToken(
        Array(session.utf8), request: [1], at: time, until: time + Model.sessionLifetime, audit: done)
        ? "done" : "refused"
    case .refuse(let session):
      return try await failUAFOperation("\(session)", UAFOperationEnd(status: 1491, time: time), audit: done)
        ? "done" : "nothing"
    default: preconditionFailure("not about a target")
    }
  }
}

extension Sample {
  /// An operation whose token is sent to a target.
  static func token(
    _ session: ID<UAFOperationRecord>, isRegistration: Bool, of user: UserID, for target: ID<UAFTargetRecord>,
    at time: Int64,
    expires: Int64
  ) -> UAFOperationRecord {
    var record = UAFOperationRecord(
      id: session, operation: isRegistration ? "Reg" : "Auth", user: user, created: time, expires: expires,
      state: .tokenCreated)
    (record.target, record.tokenDigest) = (target, Array(session.text.utf8))
    record.tokenExpires = time + Model.tokenLifetime
    return record
  }
}
