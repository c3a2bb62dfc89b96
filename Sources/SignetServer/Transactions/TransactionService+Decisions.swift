import SignetCrypto
import SignetJSON
public import SignetStorage
public import SignetWire

extension TransactionService {
  /// What waits for a container's user, signed by the server and encrypted to the container.
  ///
  /// - Parameters:
  ///   - container: Who asks.
  ///   - id: The id of the request, 16 bytes, to which the answer is bound.
  /// - Returns: A JWE.
  /// - Throws: ``Problem``.
  public func pending(for container: ContainerRecord, request id: [UInt8]) async throws(Problem) -> String {
    let now = context.clock.now
    let records = try await context.stored(
      await context.storage.pendingTransactions(user: container.user, at: now))
    var requests: [TransactionRequest] = []
    for record in records { requests.append(try request(record)) }
    return try await seal(requests, for: container, request: id)
  }

  func seal(
    _ requests: [TransactionRequest], for container: ContainerRecord, request id: [UInt8]
  ) async throws(Problem) -> String {
    let key = try context.computed(P256.KeyAgreement.PublicKey(x963: container.encryptionKey))
    let signer = try await SigningKeyService(context).current()
    let address = ListAddress(
      server: context.settings.serverURL, container: try context.composed(ContainerID(container.id)),
      request: id)
    return try context.composed(
      TransactionList(requests, isRenewalWanted: container.isRenewalWanted).sealed(
        for: address, by: signer, to: key))
  }

  /// A transaction as its device gets it.
  func request(_ record: TransactionRecord) throws(Problem) -> TransactionRequest {
    let digits = try number(of: record)?.digits.utf8.count
    return try context.composed(
      TransactionRequest(
        id: TransactionID(record.id), content: TransactionContent(parsing: record.content),
        created: record.created, expires: record.expires,
        statuses: record.statuses.compactMap(DecisionStatus.init(rawValue:)), numberDigits: digits))
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
    guard let signed = ClaimedDecision(jws) else { throw Self.notSigned }
    let claimed = signed.decision
    let found = try await context.stored(await context.storage.transaction(id))
    guard let transaction = found, transaction.user == nil || transaction.user == container.user else {
      throw Self.unknown
    }
    guard claimed.transaction.text == id, claimed.isAbout(transaction.content),
      claimed.expires == transaction.expires, claimed.server == context.settings.serverURL,
      claimed.user.text == container.user, claimed.container.text == container.id,
      claimed.device == container.device
    else { throw Problem(.malformed, "The decision is about another transaction, user or device.") }
    guard transaction.statuses.contains(claimed.status.rawValue) else {
      throw Problem(.malformed, "The relying party does not offer this decision.")
    }
    let hasRightNumber = try hasRightNumber(claimed, transaction)
    // A silently locked device signs with another key for each wrong PIN: what it may learn from the answer is counted.
    let isSigned = signed.isSigned(by: key)
    try await store(claimed.status, jws, isSigned, hasRightNumber, id: id, by: container)
    return claimed.status
  }

  /// Whether an approval has the number that the relying party shows; nothing else needs it.
  private func hasRightNumber(
    _ claimed: Decision, _ transaction: TransactionRecord
  ) throws(Problem) -> Bool {
    guard let wanted = try number(of: transaction), claimed.status == .accepted else {
      guard claimed.number == nil else {
        throw Problem(.malformed, "\"number\" goes with an approval, where one is asked for.")
      }
      return true
    }
    return claimed.number.map(wanted.isSame(as:)) ?? false
  }

  private func store(
    _ status: DecisionStatus, _ jws: String, _ isSigned: Bool, _ hasRightNumber: Bool, id: String,
    by container: ContainerRecord
  ) async throws(Problem) {
    let state: TransactionRecord.State =
      switch status {
      case .accepted: .accepted
      case .denied: .denied
      case .reported: .reported
      }
    let record = DecisionRecord(state: state, jws: jws, container: container.id, time: context.clock.now)
    let audit = context.audit(by: "container:\(container.id)")
    let outcome = try await context.stored(
      await context.storage.decideTransaction(
        id, record, isSigned: isSigned, hasRightNumber: hasRightNumber,
        limits: context.settings.transactionLimits
      ) { outcome in
        audit(
          outcome == .decided ? "transaction.\(status.rawValue)" : "transaction.refused",
          ["user": container.user, "transaction": id, "reason": Self.reason(outcome)])
      })
    try Self.check(outcome)
  }

  // MARK: The number

  func seal(_ number: MatchingNumber, of transaction: String) throws(Problem) -> [UInt8] {
    try context.computed(
      context.masterKey.seal(
        SecretBytes(copying: Array(number.digits.utf8)), for: .matchingNumber(transaction: transaction)))
  }

  private func number(of transaction: TransactionRecord) throws(Problem) -> MatchingNumber? {
    guard let sealed = transaction.sealedNumber else { return nil }
    let opened = try context.computed(
      context.masterKey.open(sealed, for: .matchingNumber(transaction: transaction.id)))
    // It is shown to people: not one of the secrets that must leave no copy.
    let digits = String(decoding: opened.insecureCopy(), as: UTF8.self)
    return try context.composed(MatchingNumber(digits))
  }
}
