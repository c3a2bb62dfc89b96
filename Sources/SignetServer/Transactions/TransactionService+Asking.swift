import SignetProtocol
import SignetStorage

extension TransactionService {
  /// The records and deliveries that ask authenticators without a list of waiting transactions.
  ///
  /// The records are stored with the transaction; the deliveries are sent after that.
  struct AuthenticatorRequests: Sendable {
    var records = AuthenticatorRequestRecords()
    var deliveries: [@Sendable () async -> Void] = []
  }

  /// Returns the records and deliveries that ask the user's UAF authenticators and apps.
  ///
  /// - Parameters:
  ///   - made: The transaction, with the number that the user types or selects; it is not stored yet.
  ///   - content: The content.
  ///   - kinds: The kinds of authenticators that can meet the requirements.
  ///   - isClients: True if the caller is an OpenID Connect client, which creates no UAF operations itself.
  /// - Returns: The records and deliveries; none if the transaction has no user or offers no approval.
  /// - Throws: ``Problem``.
  func authenticatorRequests(
    _ made: NewTransaction, _ content: TransactionContent, of kinds: Set<AuthenticationEvidence.Kind>,
    isClients: Bool
  ) async throws -> AuthenticatorRequests {
    let transaction = made.record
    var authenticatorRequests = AuthenticatorRequests()
    guard transaction.user != nil, transaction.offersApproval else { return authenticatorRequests }
    // A relying party may create its own UAF operation with any of the user's keys.
    authenticatorRequests.records.mayAskUAFKeys = !isClients
    if kinds.contains(.pushApp) {
      let text = RequestText(content).text
      try await PushAuthService(context).ask(made, text, in: &authenticatorRequests)
    }
    // The content that UAF signs contains no number.
    guard kinds.contains(.uaf), let setup = context.uaf, made.number == nil else {
      return authenticatorRequests
    }
    await UAFTokens(context, setup, self).ask(transaction, in: &authenticatorRequests)
    return authenticatorRequests
  }

  /// Returns the kinds of authenticators that can meet a transaction's requirements.
  ///
  /// - Parameter transaction: The transaction. If it is for any user, the best authenticators are assumed.
  /// - Returns: The kinds, and if there are none, the missing properties as text. A container counts as if its device had
  ///   just reported, which the device does when the server asks for it.
  /// - Throws: ``StorageFailure``.
  func kinds(
    able transaction: TransactionRecord
  ) async throws -> (kinds: Set<AuthenticationEvidence.Kind>, missing: String?) {
    let names = transaction.requirements
    // A denial has no requirements.
    guard transaction.offersApproval else { return (Set(AuthenticationEvidence.Kind.allCases), nil) }
    guard !names.isEmpty else { return ([.container, .uaf], nil) }
    // An authenticator app, which can be added at any time, has the weakest evidence.
    var reachable = [AuthenticationEvidence(.pushApp)]
    if let user = transaction.user {
      for container in try await context.storage.containers(user: user) where container.state == .active {
        reachable.append(
          AuthenticationEvidence(of: container, isSigned: true).matching(transaction).afterReport)
      }
      if context.uaf != nil {
        for key in try await context.storage.uafCredentials(user: user)
        where context.able.mayConfirm(transaction, by: key, .byRequester)
          || context.able.mayConfirm(transaction, by: key, .byServer)
        {
          reachable.append(context.able.evidence(ofConfirmationBy: key))
        }
      }
    } else {
      // The device that scans the link may be of the best kind.
      reachable = [AuthenticationEvidence.bestContainer.matching(transaction)]
      if context.uaf != nil, transaction.sealedNumber == nil, UAFRequests.shown(transaction) != nil {
        reachable.append(.bestConfirmation)
      }
    }
    let requirements = context.settings.requirements
    let kinds = reachable.filter { requirements.isOneMet(of: names, by: $0) }.map(\.kind)
    guard kinds.isEmpty else { return (Set(kinds), nil) }
    let best = reachable.max { $0.keyProtection < $1.keyProtection } ?? reachable[0]
    let hasNone = reachable.count == 1 && transaction.user != nil
    return ([], requirements.missing(for: names, in: best) + (hasNone ? "; activate a device" : ""))
  }

  /// Returns the problem if no authenticator of the user can meet the requirements.
  static func noAuthenticator(_ missing: String) -> Problem {
    Problem(.noAuthenticator, "No authenticator of the user meets the requirement: \(missing).")
  }

  /// Returns true if a transaction is still pending, or if that cannot be read.
  static func isPending(_ id: TransactionID, _ context: ServiceContext) async -> Bool {
    do throws(StorageFailure) { return try await context.storage.transaction(id)?.state == .pending } catch {
      return true
    }
  }
}
