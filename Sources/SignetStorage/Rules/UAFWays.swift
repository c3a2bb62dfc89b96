/// How the UAF keys of a user are asked a request.
package struct UAFWays: Hashable, Sendable {
  /// Whether who asks has them confirm it by an operation of its own.
  package var mayAskerAsk: Bool
  /// The targets to which tokens for it were sent.
  package var targets: [ID<UAFTargetRecord>]

  /// The ways of a request that is about to be made.
  package init(_ asking: TransactionAsking) {
    (mayAskerAsk, targets) = (asking.mayAskUAFKeys, asking.sessions.compactMap(\.record.target))
  }

  /// The ways that are left of a request that was made.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - operations: Its open operations.
  ///   - isClients: Whether a client of OpenID Connect asks, which makes no operation.
  ///   - time: When.
  package init(
    of request: TransactionRecord, _ operations: [UAFOperationRecord], isClients: Bool, at time: Int64
  ) {
    // A request whose own time is over has expired, whatever becomes of its operations.
    let open = operations.filter { !$0.isOver(at: time) || request.expires <= time }
    // A requester that asked UAF alone made its operation with the request, and makes no second one.
    mayAskerAsk = request.soleKind == .uaf ? open.contains { $0.target == nil } : !isClients
    targets = open.compactMap(\.target)
  }
}
