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
  ///   - number: The number that the user has to type or choose.
  ///   - isClients: Whether a client of OpenID Connect asks, which makes no operations of UAF of its own.
  /// - Returns: What is stored and sent; nothing of what needs the user's word and can say no more than no.
  /// - Throws: ``Problem``.
  func asking(
    _ transaction: TransactionRecord, _ content: TransactionContent, number: MatchingNumber?, isClients: Bool
  ) async throws -> Asking {
    var asking = Asking()
    guard transaction.user != nil, transaction.statuses.contains(DecisionStatus.accepted.rawValue) else {
      return asking
    }
    let text = RequestText(content).text
    try await PushAuthService(context).ask(transaction, text, number: number, in: &asking)
    // What UAF signs has no number in it.
    guard let setup = context.uaf, number == nil else { return asking }
    asking.records.mayAskUAFKeys = !isClients && UAFRequests.shown(transaction) != nil
    await UAFTokens(context, setup, self).ask(transaction, in: &asking)
    return asking
  }

  /// Whether a transaction still waits; yes where that cannot be read.
  static func isPending(_ id: String, _ context: ServiceContext) async -> Bool {
    do throws(StorageFailure) { return try await context.storage.transaction(id)?.state == .pending } catch {
      return true
    }
  }
}
