import SignetConcurrency
package import SignetServer
package import SignetStorage
public import SignetWire

// What an operator and a relying party do, without their API keys: for tests of the device's side.

extension TestServer {
  /// Invites a user, who is added where there is none yet; an earlier invite of the user ends.
  ///
  /// - Returns: The activation code, good once and for a day.
  /// - Throws: What the server says.
  public func invite(_ user: UserID) async throws -> ActivationCode {
    do { try await UserService(context).add(user, by: Self.actor) } catch StorageFailure.exists {}
    return try await ActivationService(context).invite(user, lifetime: nil, by: Self.actor).code
  }

  /// Checks a one-time password, as a relying party does, and uses it up.
  ///
  /// - Throws: `Problem`.
  public func validate(_ code: String, of user: UserID) async throws -> Bool {
    try await CodeService(context).validate(code, user: user, by: .init(Self.actor)).value == .accepted
  }

  /// Asks a user, or whoever scans it, to decide, as a relying party does; there are 300 seconds to do it.
  ///
  /// - Throws: `Problem`.
  public func createTransaction(_ text: String, for user: UserID?) async throws -> TransactionID {
    let transaction = try await server.transactions.create(
      text, user: user, lifetime: nil, by: Self.actor)
    return transaction.id
  }

  /// Asks a user to decide a form, as a relying party does; there are 300 seconds to do it.
  ///
  /// - Throws: `Problem`.
  public func createTransaction(_ form: TransactionForm, for user: UserID) async throws -> TransactionID {
    let order = TransactionDraft(.form(form), from: TransactionService.testParty, user: user)
    return try await TransactionService(context).create(order, by: Self.actor).record.id
  }

  /// What was decided about a transaction; `nil` while nothing is.
  ///
  /// - Throws: `Problem` where there is no such transaction.
  public func decision(on id: TransactionID) async throws -> DecisionStatus? {
    let (transaction, _) = try await TransactionService(context).find(id)
    return transaction.decision.flatMap { DecisionStatus(rawValue: $0.state.rawValue) }
  }

  /// Who does it, in the audit log.
  private static let actor = AuditActor.local
}

extension TransactionService {
  /// Who asks in tests.
  package static let testParty = "Example Bank"

  /// Asks a user to decide a text, as Example Bank.
  package func create(
    _ text: String, user: UserID?, lifetime: Int64?, by actor: AuditActor
  ) async throws -> TransactionRecord {
    let order = TransactionDraft(.text(text), from: Self.testParty, user: user, lifetime: lifetime)
    return try await create(order, by: actor).record
  }
}

extension TransactionRequest {
  /// A transaction of a plain text, from Example Bank.
  ///
  /// - Throws: `WireFailure`.
  package init(
    id: TransactionID, text: String, created: Int64, expires: Int64,
    statuses: [DecisionStatus] = DecisionStatus.allCases
  ) throws(WireFailure) {
    let content = try TransactionContent(
      .text(text), from: .relyingParty(TransactionService.testParty))
    self.init(id: id, content: content, created: created, expires: expires, statuses: statuses)
  }

  /// The plain text that is asked; `nil` for a form.
  package var text: String? {
    guard case .text(let text) = content.matter else { return nil }
    return text
  }
}
