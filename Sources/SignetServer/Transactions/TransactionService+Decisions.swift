package import SignetCrypto
package import SignetProtocol
package import SignetStorage
package import SignetSystem

extension TransactionService {
  /// Returns the list of waiting transactions, signed by the server and encrypted to the container.
  ///
  /// - Parameters:
  ///   - list: The waiting transactions.
  ///   - id: The id of the request, 16 bytes, to which the answer is bound.
  /// - Returns: A JWE.
  /// - Throws: ``Problem``.
  package func sealed(_ list: WaitingTransactions, request id: [UInt8]) async throws -> String {
    var requests: [TransactionRequest] = []
    for record in list.transactions { requests.append(try request(record, for: list.container)) }
    return try await seal(requests, for: list.container, request: id)
  }

  func seal(
    _ requests: [TransactionRequest], for container: ContainerRecord, request id: [UInt8]
  ) async throws -> String {
    let key = try P256.KeyAgreement.PublicKey(x963: container.encryptionKey)
    let signer = try await SigningKeyService(context).current()
    let address = ListAddress(
      server: context.settings.serverURL, container: container.id,
      request: id)
    return try TransactionList(
      requests, isRenewalRequested: container.isRenewalRequested,
      isReportRequested: container.reportRequested > 0
    ).sealed(for: address, by: signer, to: key)
  }

  /// Returns a transaction for a container, without the option to approve if the container cannot meet the requirements.
  func request(_ record: TransactionRecord, for container: ContainerRecord) throws -> TransactionRequest {
    let digits = try number(of: record)?.digits.utf8.count
    let statuses = record.statuses.compactMap { DecisionStatus(rawValue: $0.rawValue) }.filter {
      $0 != .accepted || context.able.mayAnswer(record, by: container)
    }
    return try TransactionRequest(
      id: record.id, content: TransactionContent(parsing: record.content),
      created: record.created, expires: record.expires,
      statuses: statuses, numberDigits: digits)
  }

  /// Verifies and stores a decision.
  ///
  /// The first decision counts. If the same decision is sent again, the answer is the same as the first time.
  ///
  /// - Parameters:
  ///   - jws: The signed decision, a compact JWS.
  ///   - attempt: The request, whose signature was verified.
  ///   - key: The container's signing key.
  ///   - evidence: The evidence of a decision by this container.
  /// - Returns: The decision. Its listener runs on the thread that writes, and must not block.
  /// - Throws: ``Problem`` if the storage was not called.
  package func decide(
    _ jws: String, _ attempt: DecisionAttempt, signedWith key: P256.Signing.PublicKey,
    showing evidence: AuthenticationEvidence
  ) throws -> Completion<DecisionStatus> {
    guard let signed = ClaimedDecision(jws) else { throw Self.notSigned }
    let (claimed, signer) = (signed.decision, attempt.signer)
    let record = DecisionRecord(
      state: Self.state(claimed.status), jws: jws, container: signer.container, time: context.clock.now)
    // A device with a silent lock signs with another key for each wrong PIN, so the storage counts a wrong signature.
    let isSigned = signed.isSigned(by: key)
    let audit = context.audit(by: .container(signer.container))
    let outcome = context.storage.decideTransaction(attempt, limits: context.settings.transactionLimits) {
      (transaction, lastReport) throws(StorageFailure) in
      if let reason = mismatch(claimed, of: signer, transaction) { return .mismatch(reason: reason) }
      return try verdict(
        on: transaction, record, number: claimed.number, isSigned: isSigned, showing: evidence,
        lastReport: lastReport)
    } audit: { outcome in
      let (user, id) = (signer.user, attempt.transaction)
      guard outcome == .decided else {
        return audit(.transactionRefused(user: user, transaction: id, outcome))
      }
      switch claimed.status {
      case .accepted: return audit(.transactionAccepted(user: user, transaction: id))
      case .denied: return audit(.transactionDenied(user: user, transaction: id))
      case .reported: return audit(.transactionReported(user: user, transaction: id))
      }
    }
    return outcome.map { outcome in
      try Self.check(outcome)
      return claimed.status
    }
  }

  /// Checks a decision against its transaction, in the storage step that accepts it.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - decision: The decision.
  ///   - number: The number that the user typed; `nil` for none.
  ///   - isSigned: True if the signature verified with the container's key.
  ///   - evidence: The evidence of a decision by this container.
  ///   - lastReport: Reads the time of the device's last report.
  /// - Returns: The verdict.
  /// - Throws: ``StorageFailure``.
  package func verdict(
    on transaction: TransactionRecord, _ decision: DecisionRecord, number: MatchingNumber?, isSigned: Bool,
    showing evidence: AuthenticationEvidence, lastReport: () throws(StorageFailure) -> Int64?
  ) throws(StorageFailure) -> DecisionVerdict {
    var (decision, evidence) = (decision, evidence)
    // Stored even if no requirement limits the report's age yet: the operator may set one before tokens are issued.
    if decision.state == .accepted, !transaction.requirements.isEmpty {
      decision.lastReport = try lastReport()
      evidence = evidence.reported(decision.lastReport, at: decision.time)
    }
    if let refusal = shortage(of: evidence, decision, transaction) { return refusal }
    let hasRightNumber = decision.state == .accepted ? try isRight(number, for: transaction) : true
    return .accept(decision, isSigned: isSigned, hasRightNumber: hasRightNumber)
  }

  /// Returns the reason if a decision does not match the transaction or the container; `nil` if it does.
  private func mismatch(
    _ claimed: Decision, of signer: SignerRecord, _ transaction: TransactionRecord
  ) -> String? {
    guard claimed.transaction == transaction.id, claimed.isAbout(transaction.content),
      claimed.expires == transaction.expires, claimed.server == context.settings.serverURL,
      claimed.user == signer.user, claimed.container == signer.container,
      claimed.device == signer.device
    else { return "The decision names another transaction, user or device." }
    guard transaction.statuses.contains(Self.state(claimed.status)) else {
      return "The relying party does not offer this decision."
    }
    let needsNumber = transaction.sealedNumber != nil && claimed.status == .accepted
    return claimed.number == nil || needsNumber
      ? nil : "\"number\" is allowed only in an approval that requires one."
  }

  /// Returns the refusal of an approval that does not meet the requirements; `nil` if it does.
  ///
  /// A denial has no requirements.
  private func shortage(
    of evidence: AuthenticationEvidence, _ decision: DecisionRecord, _ transaction: TransactionRecord
  ) -> DecisionVerdict? {
    let (names, requirements) = (transaction.requirements, context.settings.requirements)
    let evidence = evidence.matching(transaction)
    // For an ended transaction, the caller must get its end, not an unmet requirement.
    guard decision.state == .accepted, transaction.state(at: decision.time) == .pending, !names.isEmpty,
      !requirements.isOneMet(of: names, by: evidence)
    else { return nil }
    let missing = requirements.missing(for: names, in: evidence)
    guard requirements.isOneMet(of: names, by: evidence.afterReport) else {
      return .mismatch(reason: "This device does not meet the relying party's requirement: \(missing).")
    }
    return .reportDue(
      reason: "A report of the device is due; send it, then send the decision again: \(missing).")
  }

  static func state(_ status: DecisionStatus) -> TransactionRecord.State {
    switch status {
    case .accepted: .accepted
    case .denied: .denied
    case .reported: .reported
    }
  }

  /// Returns true if the number of an approval matches the one that the relying party shows, or if there is none.
  private func isRight(
    _ number: MatchingNumber?, for transaction: TransactionRecord
  ) throws(StorageFailure) -> Bool {
    do {
      guard let wanted = try self.number(of: transaction) else { return true }
      return number.map(wanted.isSame(as:)) ?? false
    } catch { throw .failed(detail: "the number of a transaction: \(error)") }
  }

  // MARK: Numbers to type

  package func seal(_ number: MatchingNumber, of transaction: TransactionID) throws -> [UInt8] {
    try context.masterKey.seal(
      SecretBytes(copying: Array(number.digits.utf8)), for: .matchingNumber(transaction: transaction))
  }

  private func number(of transaction: TransactionRecord) throws -> MatchingNumber? {
    guard let sealed = transaction.sealedNumber else { return nil }
    let opened = try context.masterKey.open(sealed, for: .matchingNumber(transaction: transaction.id))
    // The number is displayed to people, so a copy in memory is acceptable.
    let digits = String(decoding: opened.insecureCopy(), as: UTF8.self)
    return try MatchingNumber(digits)
  }
}
