// Rules for the conditions and the end of UAF operations.
extension UAFOperationRecord {
  /// Indicates whether its user must be active and its device unlocked: not for deregistrations, which suspended users and
  /// locked devices get too.
  package var isGrant: Bool { operation != "Dereg" }

  private var isRegistration: Bool { operation == "Reg" }

  /// Indicates whether it counts against its user's budget of requests, so that its success resets the count.
  package var isCounted: Bool { requester != nil }

  /// The user whose request may have lost its last authenticator when the operation fails; `nil` if it answers no request.
  package var answerer: UserID? { transaction == nil ? nil : user }

  /// Returns `true` if a response is accepted at a time: its request was sent, and it has not ended or expired.
  package func acceptsResponse(at time: Int64) -> Bool { state == .requested && expires > time }

  /// Returns the reason why a user's response is rejected; `nil` if it can be accepted.
  package func refusal(ofResponseBy user: UserID, at time: Int64) -> UAFOutcome? {
    if acceptsResponse(at: time), self.user == nil || self.user == user { return nil }
    return hasEndedWithTransaction ? .transactionEnded : .expired
  }

  /// Returns the operation with its token redeemed; `nil` if the token was redeemed before, or has expired.
  package func redeemed(for request: [UInt8], at time: Int64, until expires: Int64) -> UAFOperationRecord? {
    guard state == .tokenCreated, let end = tokenExpires, end > time else { return nil }
    var redeemed = self
    (redeemed.state, redeemed.request) = (.requested, request)
    (redeemed.expires, redeemed.sealedPayload) = (expires, nil)
    return redeemed
  }

  /// Returns the operation in its last state.
  package func ended(_ state: State, _ end: UAFOperationEnd) -> UAFOperationRecord {
    var ended = self
    (ended.state, ended.end) = (state, end)
    return ended
  }

  /// Returns the operation, failed by a rejected response; `end` is the end for the case of success.
  package func failed(_ outcome: UAFOutcome, _ end: UAFOperationEnd) -> UAFOperationRecord {
    var failure = end
    (failure.status, failure.authenticators) = (outcome.status, "[]")
    return ended(.failed, failure)
  }
}

/// An event at a user, a device or a target that ends pending operations.
package enum UAFInterruption: Hashable, Sendable {
  /// The user was suspended or deleted.
  case suspension
  /// The device with these targets was revoked.
  case revocation(targets: Set<ID<UAFTargetRecord>>)
  /// The device with these targets was locked.
  case lock(targets: Set<ID<UAFTargetRecord>>)
  /// The target was removed.
  case removal(target: ID<UAFTargetRecord>)
}

extension UAFOperationRecord {
  /// Returns `true` if an event at its user, device or target ends it.
  ///
  /// A registration without a target may be on any device. An authentication without one stays open: the step that ends it
  /// rejects keys on a locked device.
  package func ends(by interruption: UAFInterruption) -> Bool {
    func mayBe(at targets: Set<ID<UAFTargetRecord>>) -> Bool {
      target.map(targets.contains) ?? isRegistration
    }
    return switch interruption {
    case .suspension: true
    case .revocation(let targets): isGrant && mayBe(at: targets)
    case .lock(let targets): isRegistration && mayBe(at: targets)
    case .removal(let removed): isGrant && target == removed
    }
  }
}
