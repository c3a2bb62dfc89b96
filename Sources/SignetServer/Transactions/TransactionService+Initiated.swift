import SignetCrypto
public import SignetStorage
import SignetWire

extension TransactionService {
  /// One transaction for a container: one of its user's, or one for anybody, signed by the server and encrypted to the container.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - container: Who asks.
  ///   - request: The id of the request, 16 bytes.
  /// - Returns: A JWE.
  /// - Throws: ``Problem``: `unknown`, or how it has ended.
  public func one(
    _ id: TransactionID, for container: ContainerRecord, request: [UInt8]
  ) async throws -> String {
    let found = try await context.storage.transaction(id)
    guard let found, found.isAsked(of: .container, of: container.user) else {
      throw Self.unknown
    }
    try await requirePending(found)
    return try await seal([self.request(found, for: container)], for: container, request: request)
  }

  /// Refuses a transaction that has ended, by how it has.
  func requirePending(_ transaction: TransactionRecord) async throws {
    if try await keepsExpiry(of: [transaction]) { try Self.check(.expired) }
    switch transaction.state {
    case .pending: break
    case .expired: try Self.check(.expired)
    case .cancelled, .withdrawn: try Self.check(.cancelled)
    case .accepted, .denied, .reported: try Self.check(.decidedBefore)
    }
  }

  /// Takes what a user has signed without being asked.
  ///
  /// - Parameters:
  ///   - jws: The signed decision, a compact JWS.
  ///   - container: Who sends it; its request was authenticated.
  /// - Returns: The transaction's id, which the device made.
  /// - Throws: ``Problem``.
  public func initiate(_ jws: String, by container: ContainerRecord) async throws -> TransactionID {
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
    else { throw Problem(.malformed, "This is not what a device may ask for by itself.") }
    guard claimed.expires > now else { throw Problem(.transactionExpired, "Sign it again.") }
    guard claimed.expires - now <= TransactionDraft.lifetimes.upperBound else {
      throw Problem(.malformed, "\"expires\" is at most a day away")
    }
    var record = TransactionRecord(
      id: claimed.transaction, user: container.user, content: content.json, statuses: ["accepted"],
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

  /// What devices have signed by themselves, oldest first.
  ///
  /// - Parameters:
  ///   - user: Whose.
  ///   - id: Only what came after this one.
  ///   - limit: How many.
  /// - Returns: The transactions, each with the container that signed it.
  /// - Throws: ``Problem/Code/unknown`` for a user that is not there, and for an `id` of which the user has none.
  public func initiated(
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
