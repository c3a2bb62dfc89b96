import SignetServer
import SignetStorage
public import SignetWire

// What an operator and a relying party do, without their API keys: for tests of the device's side.

extension TestServer {
  /// Invites a user, who is added where there is none yet; an earlier invite of the user ends.
  ///
  /// - Returns: The activation code, good once and for a day.
  /// - Throws: `Problem`.
  public func invite(_ user: UserID) async throws -> ActivationCode {
    do { try await UserService(context).add(user, by: Self.actor) } catch {
      guard error.code == .exists else { throw error }
    }
    return try await ActivationService(context).invite(user, lifetime: nil, by: Self.actor).code
  }

  /// Checks a one-time password, as a relying party does, and uses it up.
  ///
  /// - Throws: `Problem`.
  public func validate(_ code: String, of user: UserID) async throws -> Bool {
    try await CodeService(context).validate(code, user: user, by: Self.actor)
  }

  /// Asks a user to decide, as a relying party does; there are 300 seconds to do it.
  ///
  /// - Throws: `Problem`.
  public func createTransaction(_ text: String, for user: UserID) async throws -> TransactionID {
    let transaction = try await server.transactions.create(
      text, user: user, lifetime: nil, by: Self.actor)
    return try TransactionID(transaction.id)
  }

  /// What was decided about a transaction; `nil` while nothing is.
  ///
  /// - Throws: `Problem` where there is no such transaction.
  public func decision(on id: TransactionID) async throws -> DecisionStatus? {
    let (transaction, _) = try await TransactionService(context).find(id.text)
    return transaction.decision.flatMap { DecisionStatus(rawValue: $0.state.rawValue) }
  }

  /// Who does it, in the audit log.
  private static let actor = "test"
}
