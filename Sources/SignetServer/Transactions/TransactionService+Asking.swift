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
  ///   - transaction: The transaction; nothing of it is stored yet.
  ///   - content: What it asks.
  ///   - kinds: The kinds of authenticators that can show what is required.
  ///   - number: The number that the user has to type or choose.
  ///   - isClients: Whether a client of OpenID Connect asks, which makes no operations of UAF of its own.
  /// - Returns: What is stored and sent; nothing of what needs the user's word and can say no more than no.
  /// - Throws: ``Problem``.
  func asking(
    _ transaction: TransactionRecord, _ content: TransactionContent,
    of kinds: Set<AuthenticationEvidence.Kind>, number: MatchingNumber?, isClients: Bool
  ) async throws -> Asking {
    var asking = Asking()
    guard transaction.user != nil, transaction.statuses.contains(DecisionStatus.accepted.rawValue) else {
      return asking
    }
    asking.records.mayAskContainers = kinds.contains(.container)
    if kinds.contains(.pushApp) {
      let text = RequestText(content).text
      try await PushAuthService(context).ask(transaction, text, number: number, in: &asking)
    }
    // What UAF signs has no number in it.
    guard kinds.contains(.uaf), let setup = context.uaf, number == nil else { return asking }
    asking.records.mayAskUAFKeys = !isClients && UAFRequests.shown(transaction) != nil
    await UAFTokens(context, setup, self).ask(transaction, in: &asking)
    return asking
  }

  /// The kinds of authenticators with which a user can show what is required.
  ///
  /// - Parameters:
  ///   - user: Who is asked; `nil` for anybody, of whom nothing is known.
  ///   - names: The requirements, of which one has to be met; empty for signed content.
  /// - Returns: The kinds.
  /// - Throws: ``Problem`` where no authenticator of the user's can show it: the user would be asked for nothing.
  func kinds(of user: UserID?, meeting names: [String]) async throws -> Set<AuthenticationEvidence.Kind> {
    guard let user, !names.isEmpty else {
      return names.isEmpty ? [.container, .uaf] : Set(AuthenticationEvidence.Kind.allCases)
    }
    // An authenticator app, which may be added meanwhile like all others, proves the least.
    var reachable = [AuthenticationEvidence(.pushApp)]
    for container in try await context.storage.containers(user: user.text) where container.state == .active {
      reachable.append(AuthenticationEvidence(of: container, isSigned: true))
    }
    for credential in try await context.storage.uafCredentials(user: user.text)
    where credential.state == .active {
      reachable.append(
        AuthenticationEvidence(of: credential, among: context.uaf?.models).atBest(confirmingTransaction: true)
      )
    }
    let known = context.settings.requirements
    let kinds = reachable.filter { known.isOneMet(of: names, by: $0) }.map(\.kind)
    guard kinds.isEmpty else { return Set(kinds) }
    let best = reachable.max { $0.keyProtection < $1.keyProtection } ?? reachable[0]
    throw Problem(
      .noAuthenticator,
      "No authenticator of the user can show what is required: \(known.missing(for: names, in: best)).")
  }

  /// Whether a transaction still waits; yes where that cannot be read.
  static func isPending(_ id: String, _ context: ServiceContext) async -> Bool {
    do throws(StorageFailure) { return try await context.storage.transaction(id)?.state == .pending } catch {
      return true
    }
  }
}
