/// The result of an attempt to end a transaction; the first end wins.
package struct TransactionEnding: Hashable {
  /// A change of a pending transaction.
  package enum Change: Hashable {
    /// It has expired. That is written before the outcome is returned, so that a clock that is set back does not reopen it.
    case expires
    /// A wrong number was counted, and it is still pending.
    case counts(wrongNumbers: Int)
    /// It has ended, with the effect on the budget of requests.
    case ends(TransactionRecord, RequestBudget.Effect)
  }

  package var outcome: DecisionOutcome
  /// The change; `nil` for none.
  package var change: Change?

  /// Makes a result.
  package init(_ outcome: DecisionOutcome, _ change: Change? = nil) {
    (self.outcome, self.change) = (outcome, change)
  }
}

extension DecisionRecord {
  /// Indicates whether it is an approval; a denial is accepted also from a suspended user, and from a locked device.
  package var isGrant: Bool { state == .accepted }
}

extension TransactionRecord {
  /// Returns `true` if a user's authenticators of a kind are asked; a transaction without a user asks every user.
  package func isAsked(of kind: AuthenticatorRecord.Kind, of user: UserID) -> Bool {
    isAsked(of: kind) && (self.user == nil || self.user == user)
  }

  /// Returns the change for a transaction that has just expired; `nil` if it has not, or if the expiry is stored.
  package func lapse(at time: Int64) -> TransactionEnding.Change? {
    state == .pending && expires <= time ? .expires : nil
  }

  /// Returns the reason why this end is not possible now; `nil` if it is.
  ///
  /// The actor is a container of a user; `nil` is the relying party.
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

  /// Returns the end by a signed decision of an active container.
  ///
  /// - Parameters:
  ///   - decision: The decision.
  ///   - user: The user of the container.
  ///   - refusal: The reason why the signature is rejected; `nil` for a right one.
  ///   - isLocked: True if the server has locked the container, which can then only deny.
  ///   - hasRightNumber: True if the number is right, or none is needed. The last allowed wrong number denies the transaction.
  ///   - limits: The limits of wrong numbers, and of requests.
  /// - Returns: The result.
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

  /// Returns the end by an acceptable decision.
  package func ending(
    by decision: DecisionRecord, of user: UserID, _ effect: RequestBudget.Effect
  ) -> TransactionEnding {
    ended(decision.state, by: (decision.container, user), at: decision.time, effect) {
      $0.decision = decision
    }
  }

  /// Returns the end without a decision, by a container, which must be active, or by the relying party.
  package func ending(
    by end: EndRecord, of container: ContainerRecord?, _ effect: RequestBudget.Effect
  ) -> TransactionEnding {
    guard end.container == nil || container?.isInUse == true else { return TransactionEnding(.unknown) }
    return ended(end.state, by: container.map { ($0.id, $0.user) }, at: end.time, effect) { $0.end = end }
  }

  /// Returns the end, unless another one came first; a transaction without a user gets the user who ends it.
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
