// What an operation of UAF demands, and what it comes to.
extension UAFOperationRecord {
  /// Whether its user has to be active and its device unlocked: not for deregistrations, which suspended users and locked devices get too.
  package var isGrant: Bool { operation != "Dereg" }

  private var isRegistration: Bool { operation == "Reg" }

  /// Whether it counts against its user's budget of requests, so that its success clears the count.
  package var isCounted: Bool { requester != nil }

  /// The user whose request may have lost the last way to be answered when it fails; `nil` where it answers none.
  package var answerer: UserID? { transaction == nil ? nil : user }

  /// Whether a response to it is taken at a time: its request was sent, and it has not ended or expired.
  package func takesResponse(at time: Int64) -> Bool { state == .requested && expires > time }

  /// Why a user's response to it is not taken; `nil` where it is, if the response does.
  package func refusal(ofResponseBy user: UserID, at time: Int64) -> UAFOutcome? {
    if takesResponse(at: time), self.user == nil || self.user == user { return nil }
    return hasEndedWithTransaction ? .transactionOver : .expired
  }

  /// The operation with its token redeemed; `nil` where the token was redeemed before, or its time is over.
  package func redeemed(for request: [UInt8], at time: Int64, until expires: Int64) -> UAFOperationRecord? {
    guard state == .tokenCreated, let end = tokenExpires, end > time else { return nil }
    var redeemed = self
    (redeemed.state, redeemed.request) = (.requested, request)
    (redeemed.expires, redeemed.sealedPayload) = (expires, nil)
    return redeemed
  }

  /// The operation in its last state.
  package func ended(_ state: State, _ end: UAFOperationEnd) -> UAFOperationRecord {
    var ended = self
    (ended.state, ended.end) = (state, end)
    return ended
  }

  /// The operation, failed by a response that comes to no success: `end` is that of one.
  package func failed(_ outcome: UAFOutcome, _ end: UAFOperationEnd) -> UAFOperationRecord {
    var failure = end
    (failure.status, failure.authenticators) = (outcome.status, "[]")
    return ended(.failed, failure)
  }
}

/// What befell a user, a device or a target, and ends operations under way.
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
  /// Whether it ends when something befalls its user, or its user's device or target.
  ///
  /// A registration without a target may be on any device. An authentication without one stays open: the step that ends it refuses keys on a
  /// locked device.
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
