/// What an attempt to end a transaction comes to; the first end wins.
package struct TransactionEnding: Hashable {
  /// What is written of a transaction that waited.
  package enum Change: Hashable {
    /// Its time is over. That is written before anybody is told: a clock that is set back does not open it again.
    case expires
    /// So many wrong numbers were named, and it waits on.
    case counts(wrongNumbers: Int)
    /// It has ended so, with what that does to the budget of requests.
    case ends(TransactionRecord, RequestBudget.Effect)
  }

  package var outcome: DecisionOutcome
  /// What is written; `nil` for nothing.
  package var change: Change?

  /// An outcome, with what is written.
  package init(_ outcome: DecisionOutcome, _ change: Change? = nil) {
    (self.outcome, self.change) = (outcome, change)
  }
}

extension DecisionRecord {
  /// Whether it grants what was asked: a no is taken of a suspended user, and of a locked device, too.
  package var isGrant: Bool { state == .accepted }
}

extension TransactionRecord {
  /// Whether a user's authenticators of a kind are asked it: one for anybody is everybody's.
  package func isAsked(of kind: AuthenticatorRecord.Kind, of user: UserID) -> Bool {
    isAsked(of: kind) && (self.user == nil || self.user == user)
  }

  /// That its time is found to be over; `nil` where it is not, and where that is written down.
  package func lapse(at time: Int64) -> TransactionEnding.Change? {
    state == .pending && expires <= time ? .expires : nil
  }

  /// Why it can't be ended so now by a container of a user, or by the relying party where the actor is `nil`; `nil` where it can.
  package func refusal(
    _ state: State, by actor: (container: ContainerID, user: UserID)?, at time: Int64
  ) -> TransactionEnding? {
    if let actor, !isAsked(of: .container, of: actor.user) { return TransactionEnding(.unknown) }
    let container = actor?.container
    switch self.state(at: time) {
    case .pending: return nil
    case .expired: return TransactionEnding(.expired, lapse(at: time))
    case .accepted, .denied, .reported:
      let isSame = self.state == state && decision != nil && decision?.container == container
      return TransactionEnding(isSame ? .repeated : .decidedBefore)
    case .cancelled, .withdrawn:
      let isSame = self.state == state && end?.container == container
      return TransactionEnding(isSame ? .repeated : .cancelled)
    }
  }

  /// Its end by a signed decision of a container in use.
  ///
  /// - Parameters:
  ///   - decision: The decision.
  ///   - user: Whose the container is.
  ///   - refusal: Why nothing signed is taken from it; `nil` where the signature is good.
  ///   - isLocked: Whether the server has locked it, so that it can deny and no more.
  ///   - hasRightNumber: Whether the number is right, or none is needed. The last wrong one that is allowed denies.
  ///   - limits: The limits of wrong numbers, and of requests.
  /// - Returns: What it comes to.
  package func ending(
    by decision: DecisionRecord, of user: UserID, after refusal: DecisionOutcome?, isLocked: Bool,
    hasRightNumber: Bool, _ limits: TransactionLimits
  ) -> TransactionEnding {
    if let refusal { return TransactionEnding(refusal) }
    guard !isLocked || !decision.isGrant else { return TransactionEnding(.containerLocked) }
    guard !hasRightNumber else {
      return ending(by: decision, of: user, RequestBudget.Effect(of: decision.state, limits))
    }
    let remaining = max(0, limits.wrongNumbers - wrongNumbers - 1)
    var ending = ended(decision.state, by: (decision.container, user), at: decision.time, .nothing) {
      $0.wrongNumbers += 1
      $0.state = .denied
      $0.end = EndRecord(
        state: .denied, reason: EndRecord.wrongNumber, container: decision.container, time: decision.time)
    }
    guard ending.outcome == .decided else { return ending }
    ending.outcome = .wrongNumber(remaining: remaining)
    if remaining > 0 { ending.change = .counts(wrongNumbers: wrongNumbers + 1) }
    return ending
  }

  /// Its end by a decision that may be taken.
  package func ending(
    by decision: DecisionRecord, of user: UserID, _ effect: RequestBudget.Effect
  ) -> TransactionEnding {
    ended(decision.state, by: (decision.container, user), at: decision.time, effect) {
      $0.decision = decision
    }
  }

  /// Its end without a decision by a container, which has to be in use, or by the relying party.
  package func ending(
    by end: EndRecord, of container: ContainerRecord?, _ effect: RequestBudget.Effect
  ) -> TransactionEnding {
    guard end.container == nil || container?.isInUse == true else { return TransactionEnding(.unknown) }
    return ended(end.state, by: container.map { ($0.id, $0.user) }, at: end.time, effect) { $0.end = end }
  }

  /// Its end, unless another one came first; one for anybody becomes that of the user who ends it.
  private func ended(
    _ state: State, by actor: (container: ContainerID, user: UserID)?, at time: Int64,
    _ effect: RequestBudget.Effect, _ change: (inout TransactionRecord) -> Void
  ) -> TransactionEnding {
    if let refusal = refusal(state, by: actor, at: time) { return refusal }
    var ended = self
    (ended.user, ended.state) = (user ?? actor?.user, state)
    change(&ended)
    return TransactionEnding(.decided, .ends(ended, effect))
  }
}
