import SignetCrypto
import SignetJSON
public import SignetStorage
public import SignetWire

extension TransactionService {
  /// How long what a device asks for by itself may be said to last, in seconds.
  static let longestLifetime: Int64 = 86_400

  /// One transaction for a container: one of its user's, or one for anybody, signed by the server and encrypted to the container.
  ///
  /// - Parameters:
  ///   - id: The transaction.
  ///   - container: Who asks.
  ///   - request: The id of the request, 16 bytes.
  /// - Returns: A JWE.
  /// - Throws: ``Problem``: `unknown`, or how it has ended.
  public func one(
    _ id: String, for container: ContainerRecord, request: [UInt8]
  ) async throws(Problem) -> String {
    let found = try await context.stored(await context.storage.transaction(id))
    guard let found, found.user == nil || found.user == container.user else { throw Self.unknown }
    switch found.state(at: context.clock.now) {
    case .pending: break
    case .expired: try Self.check(.expired)
    case .cancelled, .withdrawn: try Self.check(.cancelled)
    case .accepted, .denied, .reported: try Self.check(.decidedBefore)
    }
    return try await seal([self.request(found)], for: container, request: request)
  }

  /// Takes what a user has signed without being asked.
  ///
  /// - Parameters:
  ///   - body: The request body.
  ///   - container: Who sends it; its request was authenticated.
  /// - Returns: The transaction's id, which the device made.
  /// - Throws: ``Problem``.
  public func initiate(_ body: [UInt8], by container: ContainerRecord) async throws(Problem) -> TransactionID
  {
    let jws = try members(JSONObject(parsing: body).string("decision"))
    let key = try context.computed(P256.Signing.PublicKey(x963: container.signingKey))
    guard let claimed = Decision(unverified: jws) else { throw Self.notSigned }
    let content = try TransactionOrder.content { () throws(WireFailure) in
      try TransactionContent(parsing: claimed.content)
    }
    let now = context.clock.now
    guard content.origin == .device, claimed.status == .accepted, claimed.number == nil,
      claimed.server == context.settings.serverURL, claimed.user.text == container.user,
      claimed.container.text == container.id, claimed.device == container.device
    else { throw Problem(.malformed, "This is not what a device may ask for by itself.") }
    guard claimed.expires > now else { throw Problem(.transactionExpired, "Sign it again.") }
    guard claimed.expires - now <= Self.longestLifetime else {
      throw Problem(.malformed, "\"expires\" is at most a day away")
    }
    var record = TransactionRecord(
      id: claimed.transaction.text, user: container.user, content: content.json, statuses: ["accepted"],
      created: now, expires: claimed.expires, state: .accepted,
      decision: DecisionRecord(state: .accepted, jws: jws, container: container.id, time: now))
    record.isInitiatedByDevice = true
    let isSigned = Decision(verifying: jws, signedBy: key) == claimed
    let audit = context.audit(by: "container:\(container.id)")
    let id = record.id
    let outcome = try await context.stored(
      await context.storage.addInitiated(
        record, isSigned: isSigned, limits: context.settings.transactionLimits
      ) { outcome in
        audit(
          outcome == .decided ? "transaction.initiated" : "transaction.refused",
          ["user": container.user, "transaction": id, "reason": Self.reason(outcome)])
      })
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
  /// - Throws: ``Problem``.
  public func initiated(
    by user: UserID, after id: String?, limit: Int
  ) async throws(Problem) -> [(TransactionRecord, ContainerRecord?)] {
    let records = try await context.stored(
      await context.storage.initiatedTransactions(user: user.text, after: id, limit: limit))
    var found: [(TransactionRecord, ContainerRecord?)] = []
    for record in records {
      guard let decision = record.decision else { continue }
      found.append((record, try await context.stored(await context.storage.container(decision.container))))
    }
    return found
  }

  // MARK: Offline

  /// A pending transaction as a text to carry to a device that has no network.
  ///
  /// - Throws: ``Problem``.
  public func offline(_ id: String) async throws(Problem) -> String {
    let (transaction, _) = try await offlineTransaction(id)
    let key = try await SigningKeyService(context).current()
    return try context.composed(transaction.signed(by: key))
  }

  /// Takes the digits that a device shows for a transaction that was carried there: who knows them approves.
  ///
  /// - Parameters:
  ///   - answer: What the user typed.
  ///   - id: The transaction.
  ///   - actor: Who asks, for the audit log.
  ///   - key: The API key of who asks: nothing is compared where it is not good any more. `nil` for none.
  /// - Throws: ``Problem``: `transactionWrongAnswer`, or how it has ended.
  public func answer(
    _ answer: String, to id: String, by actor: String, key: String? = nil
  ) async throws(Problem) {
    let (transaction, user) = try await offlineTransaction(id)
    let containers = try await context.stored(await context.storage.containers(user: user))
    var match: String?
    for container in containers where container.state == .active {
      guard let credential = try await context.stored(await context.storage.credential(container.id)) else {
        continue
      }
      let secret = try context.computed(
        context.masterKey.open(credential.sealedSecret, for: .otpSecret(credential: credential.id)))
      let expected = transaction.answer(
        otpSecret: secret, container: try context.composed(ContainerID(container.id)))
      if constantTimeEqual(Array(expected.utf8), Array(answer.utf8.prefix(64))) { match = container.id }
    }
    let audit = context.audit(by: actor)
    let (now, limits) = (context.clock.now, context.settings.transactionLimits)
    let outcome = try await context.stored(
      await context.storage.answerTransaction(
        id, by: match, at: now, key: key, attempts: context.settings.codeAttempts, limits: limits
      ) { [match] outcome in
        audit(
          outcome == .decided ? "transaction.accepted" : "transaction.refused",
          [
            "user": user, "transaction": id, "container": outcome == .decided ? match : nil,
            "reason": outcome == .decided ? "offline answer" : Self.offlineReason(outcome),
          ])
      })
    if outcome == .notSigned || outcome == .locked {
      throw Problem(.transactionWrongAnswer, "Compare the digits with those that the device shows.")
    }
    try Self.check(outcome)
  }

  private static func offlineReason(_ outcome: DecisionOutcome) -> String? {
    switch outcome {
    case .notSigned: "wrong offline answer"
    case .locked: "too many wrong codes in a row; unlock the user"
    default: reason(outcome)
    }
  }

  private func offlineTransaction(
    _ id: String
  ) async throws(Problem) -> (transaction: OfflineTransaction, user: String) {
    let found = try await context.stored(await context.storage.transaction(id))
    guard let found else { throw Self.unknown }
    guard let user = found.user, found.statuses.contains(DecisionStatus.accepted.rawValue) else {
      throw Problem(.malformed, "Only what one user is asked, and may accept, goes offline.")
    }
    // The digits would do without the number, which is there so that they do not.
    guard found.sealedNumber == nil else {
      throw Problem(.malformed, "A transaction with a number to type does not go offline.")
    }
    let transaction = try context.composed(
      OfflineTransaction(
        id: TransactionID(found.id), content: TransactionContent(parsing: found.content),
        expires: found.expires, server: context.settings.serverURL, user: UserID(user)))
    return (transaction, user)
  }
}
