/// The ways in which the user's UAF keys are asked about a request.
package struct UAFWays: Hashable, Sendable {
  /// Indicates whether the requester asks by its own operation.
  package var mayAskerAsk: Bool
  /// The targets to which the server sent tokens.
  package var targets: [ID<UAFTargetRecord>]

  /// Makes the ways of a request that is about to be added.
  package init(_ asking: TransactionAsking) {
    (mayAskerAsk, targets) = (asking.mayAskUAFKeys, asking.sessions.compactMap(\.record.target))
  }

  /// Makes the remaining ways of a stored request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - operations: Its open operations.
  ///   - isClients: True if an OpenID Connect client asks, which makes no operation.
  ///   - time: The current time, in seconds since 1970.
  package init(
    of request: TransactionRecord, _ operations: [UAFOperationRecord], isClients: Bool, at time: Int64
  ) {
    // If the request itself has expired, its operations do not matter, so none is left out.
    let open = operations.filter { !$0.isOver(at: time) || request.expires <= time }
    // A requester that asked UAF alone made its operation with the request, and makes no second one.
    mayAskerAsk = request.soleKind == .uaf ? open.contains { $0.target == nil } : !isClients
    targets = open.compactMap(\.target)
  }
}
