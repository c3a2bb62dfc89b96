import SignetCrypto
import SignetJSON
package import SignetProtocol
package import SignetStorage
import SignetSystem

/// Transactions, which a relying party creates and a user decides (`docs/protocol.md` section 5).
package struct TransactionService: Sendable {
  let context: ServiceContext
  private let announce: @Sendable (TransactionAnnouncement) -> Void

  /// Creates the service of a context.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - announce: Called for each new transaction after it is stored.
  package init(
    _ context: ServiceContext,
    announcing announce: @escaping @Sendable (TransactionAnnouncement) -> Void = { _ in }
  ) {
    (self.context, self.announce) = (context, announce)
  }

  /// A transaction that was created.
  package struct NewTransaction: Sendable {
    /// The transaction, pending.
    package let record: TransactionRecord
    /// The number that the relying party shows; the server stores it encrypted and does not return it again.
    package let number: MatchingNumber?
  }

  /// Creates a transaction for a user.
  ///
  /// - Parameters:
  ///   - order: The content and the options.
  ///   - actor: The caller's name in the audit log.
  ///   - key: The caller's API key; if it is no longer valid, the transaction is not created. `nil` for none.
  /// - Returns: The transaction, pending.
  /// - Throws: ``Problem``.
  package func create(
    _ order: TransactionDraft, by actor: AuditActor, key: ID<APIKeyRecord>? = nil
  ) async throws -> NewTransaction {
    try await create(order, by: actor, key: key) { _ in nil }
  }

  /// Creates a transaction and, in the same step, the client's request that it belongs to.
  ///
  /// - Parameters:
  ///   - order: The content and the options.
  ///   - actor: The caller's name in the audit log.
  ///   - key: The caller's API key.
  ///   - isClients: True if the caller is an OpenID Connect client.
  ///   - request: Creates the client's request.
  /// - Returns: The transaction, pending.
  /// - Throws: ``Problem``.
  func create(
    _ order: TransactionDraft, by actor: AuditActor, key: ID<APIKeyRecord>? = nil, isClients: Bool = false,
    beside request: (TransactionRecord) throws -> BackchannelRecord?
  ) async throws -> NewTransaction {
    let (made, content) = try draft(order, by: actor)
    let (kinds, missing) = try await kinds(able: made.record)
    if let missing, made.record.user == nil { throw Self.noAuthenticator(missing) }
    let authenticatorRequests = try await authenticatorRequests(
      made, content, of: kinds, isClients: isClients)
    do {
      try await add(
        made.record, beside: try request(made.record), authenticatorRequests: authenticatorRequests.records,
        by: actor,
        key: key)
    } catch let problem as Problem where problem.code == .noAuthenticator {
      throw missing.map(Self.noAuthenticator) ?? problem
    }
    announce(TransactionAnnouncement(made.record, deliveries: authenticatorRequests.deliveries))
    return made
  }

  /// Creates a transaction without storing it.
  ///
  /// - Parameters:
  ///   - order: The content and the options.
  ///   - kind: The only kind of authenticators that may answer, if the caller selected one; `nil` for all that can.
  ///   - actor: The caller's name in the audit log.
  /// - Returns: The transaction and its content.
  /// - Throws: ``Problem``.
  func draft(
    _ order: TransactionDraft, for kind: AuthenticatorRecord.Kind? = nil, by actor: AuditActor
  ) throws -> (made: NewTransaction, content: TransactionContent) {
    let content = try TransactionDraft.content { () throws(WireFailure) in
      try TransactionContent(order.content, from: .relyingParty(order.from), context: order.context)
    }
    let lifetime = order.lifetime ?? context.settings.transactionLifetime
    guard TransactionDraft.lifetimes.contains(lifetime) else {
      throw Problem(
        .malformed, "\"lifetime\" must be 1 to \(TransactionDraft.lifetimes.upperBound) seconds")
    }
    let requirements = context.settings.requirements
    if let name = order.requirements.first(where: { requirements[$0] == nil }) {
      throw Problem(
        .malformed,
        "\"requirement\" \(name.debugDescription) is not known; known names: \(requirements.names.joined(separator: " "))."
      )
    }
    var order = order
    let needed = requirements.numberDigits(of: order.requirements)
    if needed > order.numberDigits ?? 0 { order.numberDigits = needed }
    let now = context.clock.now
    let id = TransactionID(random: context.random)
    // The user can always deny.
    let statuses = DecisionStatus.allCases.filter { $0 == .denied || order.statuses.contains($0) }
    var transaction = TransactionRecord(
      id: id, user: order.user, content: content.json, statuses: statuses.map(Self.state),
      created: now, expires: now + lifetime)
    let number = order.numberDigits.map(number)
    transaction.typedFields = try typedFields(of: order)
    transaction.requirements = order.requirements
    (transaction.requester, transaction.soleKind) = (actor.text, kind)
    if let number { transaction.sealedNumber = try seal(number, of: id) }
    return (NewTransaction(record: transaction, number: number), content)
  }

  /// Returns a number without a leading zero, since apps may display it as a number.
  private func number(digitCount: Int) -> MatchingNumber {
    while true {
      let number = MatchingNumber(digitCount: digitCount, random: context.random)
      if number.digits.utf8.first != UInt8(ascii: "0") { return number }
    }
  }

  /// Stores a transaction, with the records that ask authenticators without a list of waiting transactions.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - request: The client's request that it belongs to; `nil` for none.
  ///   - authenticatorRequests: The records that ask those authenticators.
  ///   - actor: The caller's name in the audit log.
  ///   - key: The caller's API key.
  /// - Throws: ``Problem``.
  func add(
    _ transaction: TransactionRecord, beside request: BackchannelRecord? = nil,
    authenticatorRequests: AuthenticatorRequestRecords,
    by actor: AuditActor, key: ID<APIKeyRecord>?
  ) async throws {
    let event = event(ofAdding: transaction, by: actor)
    let (storage, limits) = (context.storage, context.settings.transactionLimits)
    do {
      let outcome =
        if let request {
          try await storage.addBackchannelRequest(
            request, asking: transaction, limits: limits, by: authenticatorRequests, audit: event)
        } else {
          try await storage.addTransaction(
            transaction, key: key, limits: limits, authenticatorRequests: authenticatorRequests, audit: event)
        }
      try Self.check(outcome)
    } catch StorageFailure.unknown { throw Problem(noUser: transaction.user) }
  }

  /// Returns a function that creates the audit event, for a transaction that was added or rejected.
  func event(
    ofAdding transaction: TransactionRecord, by actor: AuditActor
  ) -> @Sendable (AdmissionOutcome) -> AuditRecord {
    let (audit, user, id) = (context.audit(by: actor), transaction.user, transaction.id)
    return {
      audit(
        $0 == .added
          ? .transactionAdded(user: user, transaction: id)
          : .transactionNotAdded(user: user, transaction: id, $0))
    }
  }

  /// Throws the problem for a transaction that was not added.
  static func check(_ outcome: AdmissionOutcome) throws(Problem) {
    switch outcome {
    case .added: return
    case .keyRevoked: throw APIKeyService.refused
    case .noAuthenticator:
      throw Problem(
        .noAuthenticator,
        "The user has no authenticator that can answer: activate or unlock a device, or name a requirement that an authenticator app meets."
      )
    case .transactionEnded:
      throw Problem(.unknown, "There is no such pending transaction of the user; ask for a new one.")
    case .clientRevoked: throw Problem(.unauthorized, "The client is no longer registered.")
    case .tooManyPending(let seconds):
      throw Problem(
        .transactionTooMany,
        "The limit of pending requests of this user, or your half of it, is reached. Try again when one is answered; the first expires in \(max(1, seconds)) s.",
        retryAfter: max(1, seconds))
    case .coolingDown(let seconds):
      throw Problem(
        .transactionTooMany,
        "The user reported a request, or accepted none of the last ones, of yours or of all requesters. Try again in \(max(1, seconds)) s; an operator can end this wait with 'signet-server user unlock USER'.",
        retryAfter: max(1, seconds))
    }
  }

  /// Returns a transaction, with the container that decided it unless its user has been deleted.
  ///
  /// - Throws: ``Problem/Code/unknown``.
  package func find(_ id: TransactionID) async throws -> (TransactionRecord, ContainerRecord?) {
    let transaction = try await context.storage.transaction(id)
    guard let transaction else { throw Self.unknown }
    if try await keepsExpiry(of: [transaction]) { return try await find(id) }
    guard let decision = transaction.decision else { return (transaction, nil) }
    let container = try await context.storage.container(decision.container)
    // After a user's deletion, the device and its key are not disclosed.
    return (transaction, container?.isErased == true ? nil : container)
  }

  /// Returns transactions, newest first.
  ///
  /// - Parameters:
  ///   - filter: The filter.
  ///   - id: Only transactions created before this one.
  ///   - limit: The largest number of transactions.
  /// - Returns: The transactions.
  /// - Throws: ``Problem``.
  package func list(
    _ filter: TransactionFilter, before id: TransactionID?, limit: Int
  ) async throws -> [TransactionRecord] {
    let now = context.clock.now
    let found = try await context.storage.transactions(filter, before: id, at: now, limit: limit)
    guard try await keepsExpiry(of: found) else { return found }
    return try await context.storage.transactions(filter, before: id, at: now, limit: limit)
  }

  /// Marks expired transactions in the storage before they are reported.
  ///
  /// They stay expired, even if the clock is set back before the next sweep.
  ///
  /// - Returns: True if there were any.
  func keepsExpiry(of transactions: [TransactionRecord]) async throws -> Bool {
    let now = context.clock.now
    guard transactions.contains(where: { $0.state == .pending && $0.state(at: now) == .expired }) else {
      return false
    }
    try await context.sweep(at: now)
    return true
  }

  /// Returns the transactions that wait for a container's user and that the container can answer.
  ///
  /// - Parameter id: The container.
  /// - Returns: The list, from one read; `nil` for a container that is not in use, such as that of a deleted user.
  /// - Throws: ``StorageFailure/userNotActive(_:)`` if the user is suspended.
  package func waiting(for id: ContainerID) async throws -> WaitingTransactions? {
    let found: (container: ContainerRecord, transactions: [TransactionRecord])?
    do throws(StorageFailure) {
      found = try await context.storage.pendingTransactions(ofContainer: id, at: context.clock.now)
    } catch {
      guard error == .userNotActive(.deleted) else { throw error }
      // The deletion revoked the container, and no operator can undo that.
      return nil
    }
    guard let found else { return nil }
    return WaitingTransactions(
      transactions: found.transactions.filter { context.able.isAsked($0, of: found.container) },
      container: found.container)
  }

  /// Withdraws a transaction for its relying party.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - reason: The reason: 0 to 1,000 plain characters, no line feed.
  ///   - actor: The caller's name in the audit log.
  ///   - key: The caller's API key; `nil` for none.
  /// - Throws: ``Problem``: `transactionDecided`, `transactionCancelled` or `transactionExpired` if it has ended before.
  package func withdraw(
    _ id: TransactionID, reason: String, by actor: AuditActor, key: ID<APIKeyRecord>? = nil
  ) async throws {
    try reading(Cancellation.check(reason, member: "reason"))
    let end = EndRecord(state: .withdrawn, reason: reason, container: nil, time: context.clock.now)
    try await self.end(
      id, end, .transactionWithdrawn(transaction: id, reason: reason), by: actor, key: key)
  }

  /// Cancels a transaction for its user, without a decision.
  ///
  /// - Parameters:
  ///   - body: The request body.
  ///   - id: The transaction that the path names.
  ///   - container: The authenticated container that sends it.
  /// - Throws: ``Problem``.
  package func cancel(_ body: [UInt8], id: TransactionID, by container: ContainerRecord) async throws {
    let cancellation = try reading(Cancellation(parsing: body))
    let end = EndRecord(
      state: .cancelled, reason: cancellation.reason.rawValue, message: cancellation.message,
      container: container.id, time: context.clock.now)
    try await self.end(
      id, end, .transactionCancelled(transaction: id, reason: cancellation.reason.rawValue),
      isSuspicious: cancellation.reason == .notifySuspicious, by: .container(container.id))
  }

  private func end(
    _ id: TransactionID, _ end: EndRecord, _ event: AuditEvent, isSuspicious: Bool = false,
    by actor: AuditActor,
    key: ID<APIKeyRecord>? = nil
  ) async throws {
    let audit = context.audit(by: actor)
    let outcome = try await context.storage.endTransaction(
      id, end, isSuspicious: isSuspicious, key: key, limits: context.settings.transactionLimits
    ) { outcome in
      audit(outcome == .decided ? event : .transactionRefused(user: nil, transaction: id, outcome))
    }
    try Self.check(outcome)
  }

  /// Throws the problem for a decision that was not accepted.
  static func check(_ outcome: DecisionOutcome) throws(Problem) {
    switch outcome {
    case .decided, .repeated: return
    case .decidedBefore:
      throw Problem(.transactionDecided, "Get the transaction again; nothing was changed.")
    case .cancelled:
      throw Problem(.transactionCancelled, "Ask the relying party to start again.")
    case .expired: throw Problem(.transactionExpired, "Ask the relying party to start again.")
    case .unknown: throw unknown
    case .notSigned, .locked: throw notSigned
    case .keyRevoked: throw APIKeyService.refused
    case .signerChanged: throw DeviceAuthentication.unknown
    case .replayed: throw DeviceAuthentication.replayed
    case .containerLocked:
      throw Problem(.containerLocked, "It can only deny; an operator can unlock it.")
    case .mismatch(let reason): throw Problem(.malformed, reason)
    case .reportDue(let reason): throw Problem(.reportDue, reason)
    case .waiting(let seconds):
      throw Problem(
        .transactionWaiting, "Not checked: too many wrong answers came from this address.",
        retryAfter: seconds)
    case .tooMany(let seconds):
      throw Problem(
        .transactionTooMany,
        "The user's devices have signed the maximum of unasked texts within an hour; try again in \(seconds) s.",
        retryAfter: seconds)
    case .wrongNumber(0):
      throw Problem(.transactionWrongNumber, "No try is left: the transaction is denied.")
    case .wrongNumber(let remaining):
      throw Problem(.transactionWrongNumber, "Tries left: \(remaining).")
    }
  }

  static let unknown = Problem(.unknown, "There is no transaction with this id.")
  static let notSigned = Problem(
    .unauthorized, "The decision is not signed by this container's signing key.")
}
