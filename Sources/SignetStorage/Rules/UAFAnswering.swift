import SignetSystem

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

/// The UAF keys of a user that could answer a request.
package struct UAFAnswering {
  /// Indicates whether the requester may make its own operation for any of the keys, and one of them can confirm it.
  package let isAnsweredByRequester: Bool
  /// The keys that can answer at a target of the user.
  private let atTargets: [UAFCredentialRecord]
  private let isAnyTarget: Bool

  /// Evaluates the user's active keys, on devices that are not locked.
  package init(
    _ request: TransactionRecord, by keys: [UAFCredentialRecord], mayRequesterAsk: Bool, _ rules: AnswerRules
  ) {
    isAnsweredByRequester = mayRequesterAsk && keys.contains { rules.key(request, $0, .byRequester) }
    // If UAF alone is asked, the requester has sent the operation itself. Any of the user's keys may answer at its target.
    isAnyTarget = request.soleKind == .uaf
    let confirmation: AnswerRules.Confirmation = isAnyTarget ? .byRequester : .byServer
    atTargets = keys.filter { rules.key(request, $0, confirmation) }
  }

  /// Indicates whether one of the keys can answer at some target.
  package var isAbleAtTargets: Bool { !atTargets.isEmpty }

  /// Returns `true` if one of the keys can answer at a reachable target.
  package func canAnswer(at target: UAFTargetRecord) -> Bool {
    atTargets.contains { key in
      // A key or a target without a device may be on any device.
      guard !isAnyTarget, let keyDevice = key.device, let device = target.device else { return true }
      return keyDevice.hasSameBytes(as: device)
    }
  }
}
