import SignetCrypto
import SignetProtocol
package import SignetStorage
import SignetSystem

extension TransactionService {
  /// Returns one transaction of a container's user or for any user, signed and encrypted to the container.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - container: The authenticated container.
  ///   - request: The id of the request, 16 bytes.
  /// - Returns: A JWE.
  /// - Throws: ``Problem``: `unknown`, or the transaction's end.
  package func one(
    _ id: TransactionID, for container: ContainerRecord, request: [UInt8]
  ) async throws -> String {
    let found = try await context.storage.transaction(id)
    guard let found, found.isAsked(of: .container, of: container.user) else {
      throw Self.unknown
    }
    try await requirePending(found)
    return try await seal([self.request(found, for: container)], for: container, request: request)
  }

  /// Throws the problem for a transaction that has ended.
  func requirePending(_ transaction: TransactionRecord) async throws {
    if try await keepsExpiry(of: [transaction]) { try Self.check(.expired) }
    switch transaction.state {
    case .pending: break
    case .expired: try Self.check(.expired)
    case .cancelled, .withdrawn: try Self.check(.cancelled)
    case .accepted, .denied, .reported: try Self.check(.decidedBefore)
    }
  }

  /// Verifies and stores a transaction that a user signed on their own initiative.
  ///
  /// - Parameters:
  ///   - jws: The signed decision, a compact JWS.
  ///   - container: The authenticated container that sends it.
  /// - Returns: The transaction's id, which the device chose.
  /// - Throws: ``Problem``.
  package func initiate(_ jws: String, by container: ContainerRecord) async throws -> TransactionID {
    let key = try P256.Signing.PublicKey(x963: container.signingKey)
    guard let signed = ClaimedDecision(jws) else { throw Self.notSigned }
    let claimed = signed.decision
    let content = try TransactionDraft.content { () throws(WireFailure) in
      try TransactionContent(parsing: claimed.content)
    }
    let now = context.clock.now
    guard content.origin == .device, claimed.status == .accepted, claimed.number == nil,
      claimed.server == context.settings.serverURL, claimed.user == container.user,
      claimed.container == container.id, claimed.device == container.device
    else { throw Problem(.malformed, "A device cannot initiate a transaction of this kind.") }
    guard claimed.expires > now else { throw Problem(.transactionExpired, "Sign it again.") }
    guard claimed.expires - now <= TransactionDraft.lifetimes.upperBound else {
      throw Problem(.malformed, "\"expires\" must be at most a day away")
    }
    var record = TransactionRecord(
      id: claimed.transaction, user: container.user, content: content.json, statuses: [.accepted],
      created: now, expires: claimed.expires, state: .accepted,
      decision: DecisionRecord(state: .accepted, jws: jws, container: container.id, time: now))
    record.isInitiatedByDevice = true
    let isSigned = signed.isSigned(by: key)
    let audit = context.audit(by: .container(container.id))
    let id = record.id
    let outcome = try await context.storage.addInitiated(
      record, isSigned: isSigned, limits: context.settings.transactionLimits
    ) { outcome in
      audit(
        outcome == .decided
          ? .transactionInitiated(user: container.user, transaction: id)
          : .transactionRefused(user: container.user, transaction: id, outcome))
    }
    try Self.check(outcome)
    return claimed.transaction
  }

  /// Returns the transactions that a user's devices initiated, oldest first.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - id: Only transactions after this one.
  ///   - limit: The largest number of transactions.
  /// - Returns: The transactions, each with the container that signed it.
  /// - Throws: ``Problem/Code/unknown`` if the user does not exist, or has no transaction with this `id`.
  package func initiated(
    by user: UserID, after id: TransactionID?, limit: Int
  ) async throws -> [(TransactionRecord, ContainerRecord?)] {
    _ = try await UserService(context).find(user)
    if let id, try await context.storage.transaction(id)?.user != user {
      throw Problem(.unknown, "The user has no transaction of this id; without an id, all are listed.")
    }
    let records = try await context.storage.initiatedTransactions(user: user, after: id, limit: limit)
    var found: [(TransactionRecord, ContainerRecord?)] = []
    for record in records {
      guard let decision = record.decision else { continue }
      found.append((record, try await context.storage.container(decision.container)))
    }
    return found
  }
}
