public import SignetProtocol
package import SignetServer
package import SignetStorage
import SignetSystem

// The actions of an operator and a relying party without API keys, for tests of the device's side.

extension TestServer {
  /// Invites a user, who is added if missing; an earlier invite of the user ends.
  ///
  /// - Returns: The activation code, valid once and for a day.
  /// - Throws: The server's error.
  public func invite(_ user: UserID) async throws -> ActivationCode {
    do { try await UserService(context).add(user, by: Self.actor) } catch StorageFailure.exists {}
    return try await ActivationService(context).invite(user, lifetime: nil, by: Self.actor).code
  }

  /// Verifies a one-time password as a relying party; the code is then used up.
  ///
  /// - Throws: `Problem`.
  public func validate(_ code: String, of user: UserID) async throws -> Bool {
    try await CodeService(context).validate(code, user: user, by: .init(Self.actor)).value == .accepted
  }

  /// Asks a user, or any user who scans it, to decide, as a relying party; it expires after 300 seconds.
  ///
  /// - Throws: `Problem`.
  public func createTransaction(_ text: String, for user: UserID?) async throws -> TransactionID {
    let transaction = try await server.transactions.create(
      text, user: user, lifetime: nil, by: Self.actor)
    return transaction.id
  }

  /// Asks a user to decide a form, as a relying party; it expires after 300 seconds.
  ///
  /// - Throws: `Problem`.
  public func createTransaction(_ form: TransactionForm, for user: UserID) async throws -> TransactionID {
    let order = TransactionDraft(.form(form), from: TransactionService.testParty, user: user)
    return try await TransactionService(context).create(order, by: Self.actor).record.id
  }

  /// Returns the decision about a transaction; `nil` while it is pending.
  ///
  /// - Throws: `Problem` if there is no such transaction.
  public func decision(on id: TransactionID) async throws -> DecisionStatus? {
    let (transaction, _) = try await TransactionService(context).find(id)
    return transaction.decision.flatMap { DecisionStatus(rawValue: $0.state.rawValue) }
  }

  private static let actor = AuditActor.local
}

extension TransactionService {
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
  /// Creates a transaction of a plain text, from Example Bank.
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

  /// The plain text to decide; `nil` for a form.
  package var text: String? {
    guard case .text(let text) = content.body else { return nil }
    return text
  }
}
