/// The channels through which the user's UAF keys are asked about a request.
package struct UAFRequestChannels: Hashable, Sendable {
  /// Indicates whether the requester asks by its own operation.
  package var mayRequesterAsk: Bool
  /// The targets to which the server sent tokens.
  package var targets: [ID<UAFTargetRecord>]

  /// Creates the channels of a request that is about to be added.
  package init(_ authenticatorRequests: AuthenticatorRequestRecords) {
    (mayRequesterAsk, targets) = (
      authenticatorRequests.mayAskUAFKeys, authenticatorRequests.sessions.compactMap(\.record.target)
    )
  }

  /// Creates the remaining channels of a stored request.
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
    let open = operations.filter { !$0.hasExpired(at: time) || request.expires <= time }
    // A requester that asked UAF alone made its operation with the request, and makes no second one.
    mayRequesterAsk = request.soleKind == .uaf ? open.contains { $0.target == nil } : !isClients
    targets = open.compactMap(\.target)
  }
}
