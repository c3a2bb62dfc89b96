import SignetCrypto
import SignetJSON
public import SignetStorage
public import SignetWire

/// Transactions: what a relying party asks and a user decides (`docs/protocol.md` section 5).
public struct TransactionService: Sendable {
  private let context: ServiceContext
  private let announce: @Sendable (TransactionRecord) -> Void

  /// A service over a context.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - announce: Hears of each new transaction, once it is on the disk.
  public init(
    _ context: ServiceContext, announcing announce: @escaping @Sendable (TransactionRecord) -> Void = { _ in }
  ) {
    (self.context, self.announce) = (context, announce)
  }

  /// Makes a transaction for a user.
  ///
  /// - Parameters:
  ///   - text: What the user is asked.
  ///   - user: Who decides.
  ///   - lifetime: Seconds; `nil` for the configured one.
  ///   - actor: Who asks, for the audit log.
  /// - Returns: The transaction, pending.
  /// - Throws: ``Problem``.
  public func create(
    _ text: String, user: UserID, lifetime: Int64?, by actor: String
  ) async throws(Problem) -> TransactionRecord {
    do { try DisplayText.check(text) } catch { throw Problem(.textRefused, error.description) }
    let lifetime = lifetime ?? context.settings.transactionLifetime
    guard (1...86_400).contains(lifetime) else {
      throw Problem(.malformed, "\"lifetime\" is 1 to 86400 seconds")
    }
    let now = context.clock.now
    let transaction = TransactionRecord(
      id: ServerMadeID(random: context.random).text, user: user.text, text: text, created: now,
      expires: now + lifetime)
    let event = context.audit(by: actor)(
      "transaction.added", ["user": user.text, "transaction": transaction.id])
    try await context.stored(of: user.text, await context.storage.addTransaction(transaction, audit: event))
    announce(transaction)
    return transaction
  }

  /// The transaction as its relying party sees it.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  public func find(_ id: String) async throws(Problem) -> (TransactionRecord, ContainerRecord?) {
    let transaction = try await context.stored(await context.storage.transaction(id))
    guard let transaction else { throw Problem(.unknown, "There is no transaction of this id.") }
    guard let decision = transaction.decision else { return (transaction, nil) }
    let container = try await context.stored(await context.storage.container(decision.container))
    return (transaction, container)
  }

  /// What waits for a container's user, encrypted to the container.
  ///
  /// - Returns: A JWE.
  public func pending(for container: ContainerRecord) async throws(Problem) -> String {
    let now = context.clock.now
    let records = try await context.stored(
      await context.storage.pendingTransactions(user: container.user, at: now))
    var requests: [TransactionRequest] = []
    for record in records {
      requests.append(
        try context.composed(
          TransactionRequest(
            id: TransactionID(record.id), text: record.text, created: record.created, expires: record.expires)
        ))
    }
    let key = try context.computed(P256.KeyAgreement.PublicKey(x963: container.encryptionKey))
    return try context.composed(
      TransactionList(requests, isRenewalWanted: container.isRenewalWanted).encrypted(to: key))
  }

  /// What waits for a container's user, as a tag that is another one whenever that changes, in quotes (RFC 9110 section 8.8.3).
  ///
  /// - Throws: ``Problem``.
  func tag(for container: ContainerRecord) async throws(Problem) -> String {
    let records = try await context.stored(
      await context.storage.pendingTransactions(user: container.user, at: context.clock.now))
    let names = records.map(\.id) + (container.isRenewalWanted ? ["renew"] : [])
    let digest = HashFunction.sha256.digest(of: Array(names.joined(separator: " ").utf8))
    return "\"\(Base64URL.encode(Array(digest.prefix(12))))\""
  }

  /// Takes a decision; the first one wins, and the same one sent again is answered as the first time.
  ///
  /// - Parameters:
  ///   - body: The request body.
  ///   - id: The transaction that the path names.
  ///   - container: Who sends it; its request was authenticated.
  /// - Returns: What was decided.
  /// - Throws: ``Problem``.
  public func decide(_ body: [UInt8], id: String, by container: ContainerRecord) async throws(Problem)
    -> DecisionStatus
  {
    let jws = try members(JSONObject(parsing: body).string("decision"))
    let key = try context.computed(P256.Signing.PublicKey(x963: container.signingKey))
    guard let claimed = Decision(unverified: jws) else { throw Self.notSigned }
    let found = try await context.stored(await context.storage.transaction(id))
    guard let transaction = found, transaction.user == container.user else {
      throw Problem(.unknown, "There is no transaction of this id.")
    }
    guard claimed.transaction.text == id, claimed.text.utf8.elementsEqual(transaction.text.utf8),
      claimed.expires == transaction.expires, claimed.server == context.settings.serverURL,
      claimed.user.text == container.user, claimed.container.text == container.id,
      claimed.device == container.device
    else { throw Problem(.malformed, "The decision is about another transaction, user or device.") }
    // A silently locked device signs with another key for each wrong PIN: what it may learn from the answer is counted.
    let isSigned = Decision(verifying: jws, signedBy: key) == claimed
    try await store(claimed.status, jws, isSigned, id: id, by: container)
    return claimed.status
  }

  private static let notSigned = Problem(
    .unauthorized, "The decision is not signed by this container's signing key.")

  private func store(
    _ status: DecisionStatus, _ jws: String, _ isSigned: Bool, id: String, by container: ContainerRecord
  ) async throws(Problem) {
    let state: TransactionRecord.State = status == .accepted ? .accepted : .denied
    let record = DecisionRecord(state: state, jws: jws, container: container.id, time: context.clock.now)
    let audit = context.audit(by: "container:\(container.id)")
    let limit = context.settings.codeAttempts
    let outcome = try await context.stored(
      await context.storage.decideTransaction(id, record, isSigned: isSigned, limit: limit) { outcome in
        let reason: String? =
          switch outcome {
          case .decided, .repeated: nil
          case .decidedBefore: "decided before"
          case .expired: "expired"
          case .unknown: "unknown"
          case .notSigned: "not signed by the container's key"
          case .locked: "too many wrong signatures in a row; unlock the user"
          }
        return audit(
          outcome == .decided ? "transaction.\(status.rawValue)" : "transaction.refused",
          ["user": container.user, "transaction": id, "reason": reason])
      })
    switch outcome {
    case .decided, .repeated: return
    case .decidedBefore:
      throw Problem(.transactionDecided, "Look at the transaction again; nothing was changed.")
    case .expired: throw Problem(.transactionExpired, "Ask the relying party to start again.")
    case .unknown: throw Problem(.unknown, "There is no transaction of this id.")
    case .notSigned, .locked: throw Self.notSigned
    }
  }
}
