extension DeviceCommandRecord {
  /// Indicates whether it is an open order to wipe a container.
  package var isOpenWipe: Bool { action == .wipe && isOpen }

  /// Returns the outcome of a new order after earlier ones to a container; ``DeviceCommandOutcome/added`` if it is to be given.
  package func outcome(to container: ContainerRecord?, after orders: [Self]) -> DeviceCommandOutcome {
    guard let container, container.isInUse else { return .notInUse }
    return action == .unlock && orders.contains(where: \.isOpenWipe) ? .toBeWiped : .added
  }

  /// Returns the order with its receipt; `nil` if it has one, or is not open for another reason.
  package func acknowledged(by receipt: String, at time: Int64) -> Self? {
    guard isOpen else { return nil }
    var order = self
    (order.receipt, order.received) = (receipt, time)
    return order
  }
}

extension AccountStateRecord {
  /// Returns `true` if an order for a device is given to an active container on it: an unlock only if an operator has locked
  /// the container too.
  package func awaits(_ action: DeviceCommandRecord.Action) -> Bool { action != .unlock || isOrderedLocked }

  /// Returns the state after an order, which determines the container's lock from then on, also if the row was altered.
  package func ordered(_ order: DeviceCommandRecord) -> Self {
    var state = self
    if isAltered { (state.isAltered, state.revision) = (false, order.created) }
    // A container with an order to be wiped is locked until it is wiped.
    state.isOrderedLocked = order.action != .unlock
    state.orderedReason = state.isOrderedLocked ? order.reason : ""
    return state
  }
}

/// A state of a container that is to be written, with its effects on the container and its one-time passwords.
///
/// A state that was found altered becomes a lock, which is a change in any case.
package struct AccountStateChange: Hashable, Sendable {
  /// The state; its revision is increased if it differs from the previous one.
  package private(set) var state: AccountStateRecord
  /// Indicates whether it differs from the previous one, so that the device has to learn of it.
  package let isChanged: Bool

  /// Makes a change at a time, in seconds since 1970.
  ///
  /// `isChanged` is true if the state differs from the previous one.
  package init(_ state: AccountStateRecord, isChanged: Bool, at time: Int64) {
    self.state = state
    self.isChanged = isChanged || state.isAltered
    if state.isAltered { self.state.revision = time }
    if self.isChanged { self.state.revision += 1 }
  }

  /// Returns the container as it is to be written.
  package func container(_ container: ContainerRecord) -> ContainerRecord {
    var container = container
    (container.compliance, container.reportRequested) = (state.compliance, state.revision)
    return container
  }

  /// Returns the container's one-time-password credential as it is to be written: its state alone decides whether codes are accepted.
  ///
  /// `nil` if it does not change: before its first use, and if its row was altered.
  package func credential(_ credential: CredentialRecord?) -> CredentialRecord? {
    guard var credential, ![.pending, .altered].contains(credential.state) else { return nil }
    credential.state = state.compliance == .open ? .active : .disabled
    return credential
  }

  /// Returns the event of a state that was found altered; `nil` for any other.
  package func alteration(of container: ContainerRecord) -> AuditEvent? {
    state.isAltered ? .accountAltered(user: container.user, container: container.id) : nil
  }
}

extension AccountStateRecord {
  /// Returns the state that the successor of a container gets, because new keys must not end a lock; `nil` for none.
  package func carried(at time: Int64) -> AccountStateChange? {
    guard self != AccountStateRecord() else { return nil }
    var state = self
    (state.challenge, state.challengeExpires) = (nil, 0)
    return AccountStateChange(state, isChanged: revision > 0 || compliance != .open, at: time)
  }
}

/// The effects of a report whose challenge was open.
package struct AcceptedReport: Hashable, Sendable {
  /// The state, with the report in it and the challenge used up.
  package let change: AccountStateChange
  /// The resulting order; `nil` for none, and if the container has an order to be wiped already.
  package let order: DeviceCommandRecord?
  /// The rule for the audit entry: always if the result differs from the previous one, or an order results.
  package let entry: OutcomeEntry
  /// Indicates whether the device has learnt of every change and carried out every order, so that no further report is needed.
  package let isSettled: Bool

  /// Evaluates a report; `nil` if its container is not active, or its challenge is not open.
  package init?(
    _ attempt: AccountReportAttempt, of container: ContainerRecord?, at before: AccountStateRecord,
    _ orders: [DeviceCommandRecord]
  ) {
    guard container?.isInUse == true, before.challenge == attempt.challenge,
      before.challengeExpires > attempt.time
    else { return nil }
    var state = before
    (state.challenge, state.challengeExpires) = (nil, 0)
    (state.report, state.reported) = (attempt.report, attempt.time)
    (state.verdict, state.verdictReason) = (attempt.verdict, attempt.reason)
    order = orders.contains(where: \.isOpenWipe) ? nil : attempt.order
    if let order { state = state.ordered(order) }
    let hasNewState = order != nil || state.compliance != before.compliance
    change = AccountStateChange(
      state, isChanged: hasNewState || state.reason != before.reason, at: attempt.time)
    entry = hasNewState || state.verdict != before.verdict ? .always : .limited(.container(attempt.container))
    isSettled = !change.isChanged && attempt.seen >= state.revision && !orders.contains(where: \.isOpen)
  }
}
