import SignetCrypto
import SignetProtocol
package import SignetStorage
import SignetSystem

extension TransactionService {
  /// An answer by digits from a device without a network.
  package enum Carried: Hashable, Sendable {
    /// The digits for the transaction that the device scanned and showed.
    case scanned(String)
    /// The digits for the values that the user typed into the device.
    case typed(String)

    fileprivate var digits: String {
      switch self {
      case .scanned(let digits), .typed(let digits): digits
      }
    }

    fileprivate var isTyped: Bool { kind == .typed }

    fileprivate var kind: AuditEvent.AnswerKind {
      switch self {
      case .scanned: .offline
      case .typed: .typed
      }
    }
  }

  /// Returns a pending transaction as text, for a device that has no network.
  ///
  /// - Throws: ``Problem``; for a transaction that has ended, the problem states how.
  package func offline(_ id: TransactionID) async throws -> String {
    let transaction = try await waiting(id).transaction
    let key = try await SigningKeyService(context).current()
    return try transaction.signed(by: key)
  }

  /// Returns the data that a user types into a device without network and camera.
  ///
  /// - Parameter id: The transaction.
  /// - Returns: The challenge, and the positions of the fields whose values are typed after it.
  /// - Throws: ``Problem``; for a transaction that has ended, the problem states how.
  package func typed(_ id: TransactionID) async throws -> (challenge: String, fields: [Int]) {
    let carried = try await waiting(id)
    return (try typed(carried).challenge, carried.record.typedFields ?? [])
  }

  /// Verifies the digits that a device shows for a transaction.
  ///
  /// The right digits approve it.
  ///
  /// - Parameters:
  ///   - answer: The digits, with the kind of answer.
  ///   - id: The transaction.
  ///   - requester: The caller, with the end user's address.
  /// - Throws: ``Problem``: `transactionWrongAnswer`, `transactionWaiting` while the address must wait, or the transaction's
  ///   end.
  package func answer(
    _ answer: Carried, to id: TransactionID, by requester: CodeService.Requester
  ) async throws {
    let client = try RateLimitKey.digest(of: requester.client, under: context.masterKey.clientKey())
    let carried = try await carried(id)
    let expected = try expected(answer, carried)
    let match = try await container(answering: answer.digits, carried, expected)
    let (rules, audit) = (context.settings.codes, context.audit(by: requester.actor))
    let time = audit.time
    let outcome = try await context.storage.answerTransaction(
      id,
      AnswerAttempt(
        container: match, isTyped: answer.isTyped, client: client, key: requester.key, time: time),
      attempts: context.settings.codeAttempts,
      waits: { (rules.remaining($0, at: time), rules.next($0, at: time)) }
    ) { outcome in
      audit(
        outcome == .decided
          ? .transactionAnswered(user: carried.user, transaction: id, container: match, answer.kind)
          : .transactionAnswerRefused(user: carried.user, transaction: id, answer.kind, outcome))
    } check: { transaction, container, lastReport in
      unmetRequirement(of: container, reported: lastReport, answering: transaction, at: time)
    }
    if outcome == .notSigned || outcome == .locked {
      throw Problem(
        .transactionWrongAnswer,
        answer.isTyped
          ? "Compare what was typed into the device, and the digits that it shows."
          : "Compare the digits with those that the device shows.")
    }
    try Self.check(outcome)
  }

  /// Returns the container whose digits match.
  ///
  /// All are tried, so the time does not depend on which one matches.
  private func container(
    answering digits: String, _ carried: CarriedTransaction,
    _ expected: (borrowing SecretBytes, ContainerID) -> String
  ) async throws -> ContainerID? {
    var match: ContainerID?
    for container in carried.containers {
      guard let credential = try await context.storage.credential(ID(of: container)) else { continue }
      let secret = try context.masterKey.open(
        credential.sealedSecret, for: .otpSecret(credential: credential.id))
      let expectedDigits = expected(secret, container)
      if constantTimeEqual(Array(expectedDigits.utf8), Array(digits.utf8.prefix(64))) { match = container }
    }
    return match
  }

  private func expected(
    _ answer: Carried, _ carried: CarriedTransaction
  ) throws -> (borrowing SecretBytes, ContainerID) -> String {
    guard answer.isTyped else { return { carried.transaction.answer(otpSecret: $0, container: $1) } }
    let approval = try typed(carried)
    return { approval.answer(otpSecret: $0, container: $1) }
  }

  private func typed(_ carried: CarriedTransaction) throws -> TypedApproval {
    guard let fields = carried.record.typedFields else {
      throw Problem(.malformed, "The transaction was not made with \"typed\".")
    }
    return try TypedApproval(of: carried.transaction, fields: fields)
  }

  /// Returns the fields that the user types, if the order has any and its other options allow it.
  func typedFields(of order: TransactionDraft) throws(Problem) -> [Int]? {
    guard let fields = order.typedFields else { return nil }
    guard order.user != nil, order.statuses.contains(.accepted), order.numberDigits == nil else {
      throw Problem(
        .malformed, "\"typed\" requires one \"user\" who can accept, and cannot be combined with \"number\"")
    }
    do { _ = try TypedApproval.values(of: order.content, at: fields) } catch {
      throw Problem(.contentRefused, error.description)
    }
    return fields
  }

  private struct CarriedTransaction: Sendable {
    let transaction: OfflineTransaction
    let record: TransactionRecord
    let user: UserID
    /// The user's active containers whose digits meet the requirements.
    let containers: [ContainerID]
  }

  /// Returns a transaction that is still pending.
  private func waiting(_ id: TransactionID) async throws -> CarriedTransaction {
    let carried = try await carried(id)
    try await requirePending(carried.record)
    return carried
  }

  private func carried(_ id: TransactionID) async throws -> CarriedTransaction {
    guard let found = try await context.storage.transaction(id) else { throw Self.unknown }
    guard found.isAsked(of: .container) else {
      let authenticator = found.soleKind == .uaf ? "a UAF authenticator" : "an authenticator app"
      throw Problem(.malformed, "Only \(authenticator) is asked and can answer.")
    }
    guard let user = found.user, found.offersApproval else {
      throw Problem(.malformed, "Only a transaction for one user, which the user can accept, can go offline.")
    }
    // The number ensures that the user sees the relying party's screen; digits would bypass it.
    guard found.sealedNumber == nil else {
      throw Problem(.malformed, "A transaction with a number to type cannot go offline.")
    }
    let transaction = try OfflineTransaction(
      id: found.id, content: TransactionContent(parsing: found.content),
      expires: found.expires, server: context.settings.serverURL, user: user)
    return CarriedTransaction(
      transaction: transaction, record: found, user: user,
      containers: try await containers(of: user, answering: found))
  }

  /// Returns the user's active containers whose digits meet the requirements.
  ///
  /// The storage step that accepts the digits checks this again.
  private func containers(
    of user: UserID, answering transaction: TransactionRecord
  ) async throws -> [ContainerID] {
    let active = try await context.storage.containers(user: user).filter { $0.state == .active }
    let now = context.clock.now
    // For an ended transaction, the caller must get its end, not an unmet requirement.
    guard transaction.state(at: now) == .pending else { return active.map(\.id) }
    if transaction.isClients, transaction.requirements.isEmpty { try Self.check(Self.unsigned) }
    var eligible: [ContainerID] = []
    var unmet: [DecisionOutcome] = []
    for container in active {
      let lastReport =
        transaction.requirements.isEmpty ? nil : try await context.storage.lastReport(of: container.id)
      if let refusal = unmetRequirement(
        of: container, reported: lastReport, answering: transaction, at: now)
      {
        unmet.append(refusal)
      } else {
        eligible.append(container.id)
      }
    }
    guard eligible.isEmpty, let first = unmet.first else { return eligible }
    let isDue: (DecisionOutcome) -> Bool = { if case .reportDue = $0 { true } else { false } }
    try Self.check(unmet.first(where: isDue) ?? first)
    return eligible
  }

  /// Returns the refusal if a container's digits do not meet the requirements of a pending transaction; `nil` if they do.
  ///
  /// The relying party that submits digits has chosen them, so a transaction without named requirements demands nothing
  /// more. An OpenID Connect client chooses only by `acr_values`. Without any, it demands a signature, so digits are
  /// rejected.
  private func unmetRequirement(
    of container: ContainerRecord, reported lastReport: Int64?, answering transaction: TransactionRecord,
    at time: Int64
  ) -> DecisionOutcome? {
    let (names, requirements) = (transaction.requirements, context.settings.requirements)
    guard !names.isEmpty else { return transaction.isClients ? Self.unsigned : nil }
    let evidence = AuthenticationEvidence(of: container, isSigned: false).reported(lastReport, at: time)
    guard !requirements.isOneMet(of: names, by: evidence) else { return nil }
    let missing = requirements.missing(for: names, in: evidence)
    guard requirements.isOneMet(of: names, by: evidence.afterReport) else {
      return .mismatch(reason: "Digits cannot meet the requirement: \(missing).")
    }
    return .reportDue(
      reason:
        "\(missing); have the device report ('signet condition report'), and ask for digits after that.")
  }

  private static let unsigned = DecisionOutcome.mismatch(
    reason:
      "Digits carry no signature, which the client requires, since its acr_values name no other requirement.")
}
