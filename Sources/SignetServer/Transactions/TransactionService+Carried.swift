import SignetCrypto
import SignetStorage
import SignetWire

extension TransactionService {
  /// What a device answered without a network.
  public enum Carried: Hashable, Sendable {
    /// The digits for what it has scanned and shown.
    case scanned(String)
    /// The digits for what its user has typed.
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

  /// A pending transaction as a text to carry to a device that has no network.
  ///
  /// - Throws: ``Problem``.
  public func offline(_ id: String) async throws -> String {
    let transaction = try await carried(id).transaction
    let key = try await SigningKeyService(context).current()
    return try transaction.signed(by: key)
  }

  /// What a user types into a device that has neither network nor camera.
  ///
  /// - Parameter id: The transaction.
  /// - Returns: The challenge, and the positions of the fields whose values are typed after it.
  /// - Throws: ``Problem``.
  public func typed(_ id: String) async throws -> (challenge: String, fields: [Int]) {
    let carried = try await carried(id)
    return (try typed(carried).challenge, carried.typedFields ?? [])
  }

  /// Takes the digits that a device shows for a transaction that was carried there: who knows them approves.
  ///
  /// - Parameters:
  ///   - answer: What the user typed back, and what it answers.
  ///   - id: The transaction.
  ///   - asker: Who asks, and for whom.
  /// - Throws: ``Problem``: `transactionWrongAnswer`, `transactionWaiting` while the address has to wait, or how it has ended.
  public func answer(
    _ answer: Carried, to id: String, by asker: CodeService.Asker
  ) async throws {
    let client = try ClientAddress.digest(of: asker.client, under: context.masterKey.clientKey())
    let carried = try await carried(id)
    let expected = try expected(answer, carried)
    let match = try await container(answering: answer.digits, carried, expected)
    let lastReport = carried.containers.first { $0.id == match }?.lastReport
    let (rules, audit) = (context.settings.codes, context.audit(by: asker.actor))
    let time = audit.time
    let outcome = try await context.storage.answerTransaction(
      id,
      AnswerAttempt(
        container: match, lastReport: lastReport, isTyped: answer.isTyped, client: client, key: asker.key,
        time: time),
      attempts: context.settings.codeAttempts,
      waits: { (rules.remaining($0, at: time), rules.next($0, at: time)) }
    ) { outcome in
      audit(
        outcome == .decided
          ? .transactionAnswered(user: carried.user, transaction: id, container: match, answer.kind)
          : .transactionAnswerRefused(user: carried.user, transaction: id, answer.kind, outcome))
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

  /// Which of a user's active containers gives an answer; all are tried, whichever does.
  private func container(
    answering digits: String, _ carried: CarriedTransaction,
    _ expected: (borrowing SecretBytes, ContainerID) -> String
  ) async throws -> String? {
    var match: String?
    for container in carried.containers {
      guard let credential = try await context.storage.credential(container.id) else {
        continue
      }
      let secret = try context.masterKey.open(
        credential.sealedSecret, for: .otpSecret(credential: credential.id))
      let right = expected(secret, try ContainerID(container.id))
      if constantTimeEqual(Array(right.utf8), Array(digits.utf8.prefix(64))) { match = container.id }
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
    guard let fields = carried.typedFields else {
      throw Problem(.malformed, "The transaction was not made with \"typed\".")
    }
    return try TypedApproval(of: carried.transaction, fields: fields)
  }

  /// The fields that a user is to type, where an order wants that, and it can be.
  func typedFields(of order: TransactionOrder) throws(Problem) -> [Int]? {
    guard let fields = order.typedFields else { return nil }
    guard order.user != nil, order.statuses.contains(.accepted), order.numberDigits == nil else {
      throw Problem(
        .malformed, "\"typed\" is for one \"user\", who may accept, and goes without \"number\"")
    }
    do { _ = try TypedApproval.values(of: order.matter, at: fields) } catch {
      throw Problem(.contentRefused, error.description)
    }
    return fields
  }

  private struct CarriedTransaction: Sendable {
    let transaction: OfflineTransaction
    let user: String
    let typedFields: [Int]?
    /// The active ones of the user whose digits are enough.
    let containers: [AbleContainer]
  }

  private struct AbleContainer: Sendable {
    let id: String
    /// When its device's last report came, where something is required by name.
    var lastReport: Int64?
  }

  private func carried(_ id: String) async throws -> CarriedTransaction {
    let found = try await context.storage.transaction(id)
    guard let found else { throw Self.unknown }
    guard let user = found.user, found.statuses.contains(DecisionStatus.accepted.rawValue) else {
      throw Problem(.malformed, "Only what one user is asked, and may accept, goes offline.")
    }
    // The digits would do without the number, which is there so that they do not.
    guard found.sealedNumber == nil else {
      throw Problem(.malformed, "A transaction with a number to type does not go offline.")
    }
    let transaction = try OfflineTransaction(
      id: TransactionID(found.id), content: TransactionContent(parsing: found.content),
      expires: found.expires, server: context.settings.serverURL, user: UserID(user))
    return CarriedTransaction(
      transaction: transaction, user: user, typedFields: found.typedFields,
      containers: try await containers(of: user, answering: found))
  }

  /// The user's active containers whose digits are enough for what is required.
  ///
  /// Who hands over digits has chosen them: where nothing is required by name, nothing is demanded of them. A client of OpenID Connect
  /// chooses by `acr_values` alone, whoever carries digits for it.
  private func containers(
    of user: String, answering transaction: TransactionRecord
  ) async throws -> [AbleContainer] {
    let active = try await context.storage.containers(user: user).filter { $0.state == .active }
    let (names, known) = (transaction.requirements, context.settings.requirements)
    let now = context.clock.now
    // What has ended is answered by its end, also to who made it.
    guard transaction.state(at: now) == .pending else { return active.map { AbleContainer(id: $0.id) } }
    guard !names.isEmpty else {
      guard !transaction.isClients else {
        throw Problem(
          .malformed, "Digits carry no signature, which a client demands whose acr_values name nothing else.")
      }
      return active.map { AbleContainer(id: $0.id) }
    }
    var able: [AbleContainer] = []
    var (missing, isDue): (String?, Bool) = (nil, false)
    for container in active {
      var evidence = AuthenticationEvidence(of: container, isSigned: false)
      var found = AbleContainer(id: container.id)
      found.lastReport = try await context.storage.lastReport(of: container.id)
      evidence = evidence.reported(found.lastReport, at: now)
      if known.isOneMet(of: names, by: evidence) {
        able.append(found)
      } else {
        missing = missing ?? known.missing(for: names, in: evidence)
        isDue = isDue || known.isOneMet(of: names, by: evidence.afterReport)
      }
    }
    guard able.isEmpty, let missing else { return able }
    guard !isDue else {
      throw Problem(
        .reportDue,
        "\(missing); have the device report ('signet condition report'), and ask for digits after that.")
    }
    throw Problem(.malformed, "Digits cannot show what is required: \(missing).")
  }
}
