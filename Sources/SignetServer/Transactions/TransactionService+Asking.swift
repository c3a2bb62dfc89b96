import SignetStorage
import SignetWire

extension TransactionService {
  /// How authenticators without a list of what waits are asked: what is stored with a transaction, and what goes out after that.
  struct Asking: Sendable {
    var records = TransactionAsking()
    var deliveries: [@Sendable () async -> Void] = []
  }

  /// Has every authenticator of the user's that can answer a transaction asked it.
  ///
  /// - Parameters:
  ///   - made: The transaction, with the number that the user has to type or choose; nothing of it is stored yet.
  ///   - content: What it asks.
  ///   - kinds: The kinds of authenticators that can show what is required.
  ///   - isClients: Whether a client of OpenID Connect asks, which makes no operations of UAF of its own.
  /// - Returns: What is stored and sent; nothing of what needs the user's word and can say no more than no.
  /// - Throws: ``Problem``.
  func asking(
    _ made: NewTransaction, _ content: TransactionContent, of kinds: Set<AuthenticationEvidence.Kind>,
    isClients: Bool
  ) async throws -> Asking {
    let transaction = made.record
    var asking = Asking()
    guard transaction.user != nil, transaction.offersApproval else { return asking }
    // A relying party may make an operation of UAF of its own, of any key of the user's.
    asking.records.mayAskUAFKeys = !isClients
    if kinds.contains(.pushApp) {
      let text = RequestText(content).text
      try await PushAuthService(context).ask(made, text, in: &asking)
    }
    // What UAF signs has no number in it.
    guard kinds.contains(.uaf), let setup = context.uaf, made.number == nil else { return asking }
    await UAFTokens(context, setup, self).ask(transaction, in: &asking)
    return asking
  }

  /// The kinds of authenticators that can show what a transaction requires.
  ///
  /// - Parameter transaction: The transaction; of the authenticators of one for anybody nothing is known.
  /// - Returns: The kinds and, where there is none, what is missing, for people: the user would be asked for nothing. A
  ///   container counts as if its device had just reported, which it does by itself when it is told to.
  /// - Throws: ``StorageFailure``.
  func kinds(
    able transaction: TransactionRecord
  ) async throws -> (kinds: Set<AuthenticationEvidence.Kind>, missing: String?) {
    let names = transaction.requirements
    // A no needs nothing.
    guard transaction.offersApproval else { return (Set(AuthenticationEvidence.Kind.allCases), nil) }
    guard !names.isEmpty else { return ([.container, .uaf], nil) }
    // An authenticator app, which may be added meanwhile like all others, proves the least.
    var reachable = [AuthenticationEvidence(.pushApp)]
    if let user = transaction.user {
      for container in try await context.storage.containers(user: user) where container.state == .active {
        reachable.append(
          AuthenticationEvidence(of: container, isSigned: true).matching(transaction).afterReport)
      }
      if context.uaf != nil {
        for key in try await context.storage.uafCredentials(user: user)
        where context.able.mayConfirm(transaction, by: key, .byAsker)
          || context.able.mayConfirm(transaction, by: key, .byServer)
        {
          reachable.append(context.able.evidence(ofConfirmationBy: key))
        }
      }
    } else {
      // Whoever takes it up may have the best.
      reachable = [AuthenticationEvidence.bestContainer.matching(transaction)]
      if context.uaf != nil, transaction.sealedNumber == nil, UAFRequests.shown(transaction) != nil {
        reachable.append(.bestConfirmation)
      }
    }
    let known = context.settings.requirements
    let kinds = reachable.filter { known.isOneMet(of: names, by: $0) }.map(\.kind)
    guard kinds.isEmpty else { return (Set(kinds), nil) }
    let best = reachable.max { $0.keyProtection < $1.keyProtection } ?? reachable[0]
    let hasNone = reachable.count == 1 && transaction.user != nil
    return ([], known.missing(for: names, in: best) + (hasNone ? "; activate a device" : ""))
  }

  /// The refusal of what no authenticator of the user's can show.
  static func noAuthenticator(_ missing: String) -> Problem {
    Problem(.noAuthenticator, "No authenticator of the user can show what is required: \(missing).")
  }

  /// Whether a transaction still waits; yes where that cannot be read.
  static func isPending(_ id: TransactionID, _ context: ServiceContext) async -> Bool {
    do throws(StorageFailure) { return try await context.storage.transaction(id)?.state == .pending } catch {
      return true
    }
  }
}
