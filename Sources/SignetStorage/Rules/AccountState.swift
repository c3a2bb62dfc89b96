extension DeviceCommandRecord {
  /// Whether a container is to be wiped, and its device has not said that it is.
  package var isOpenWipe: Bool { action == .wipe && isOpen }

  /// How a new order ends, after earlier ones to a container; ``DeviceCommandOutcome/added`` for one that is to be given.
  package func outcome(to container: ContainerRecord?, after orders: [Self]) -> DeviceCommandOutcome {
    guard let container, container.isInUse else { return .notInUse }
    return action == .unlock && orders.contains(where: \.isOpenWipe) ? .toBeWiped : .added
  }

  /// The order with its receipt; `nil` where it has one, or is not open for another reason.
  package func acknowledged(by receipt: String, at time: Int64) -> Self? {
    guard isOpen else { return nil }
    var order = self
    (order.receipt, order.received) = (receipt, time)
    return order
  }
}

extension AccountStateRecord {
  /// Whether an order about a device goes to a container in use on it: to unlock only where an operator has locked that too.
  package func awaits(_ action: DeviceCommandRecord.Action) -> Bool { action != .unlock || isOrderedLocked }

  /// The state after an order: whoever gives it decides how the container stands from now on, also where the row was altered.
  package func ordered(_ order: DeviceCommandRecord) -> Self {
    var state = self
    if isAltered { (state.isAltered, state.revision) = (false, order.created) }
    // A container that is to be wiped is locked until it is.
    state.isOrderedLocked = order.action != .unlock
    state.orderedReason = state.isOrderedLocked ? order.reason : ""
    return state
  }
}

/// A state of a container that is to be written, and what follows from it for the container and its codes.
///
/// One that was found altered is a lock from now on: that is a change in any case.
package struct AccountStateChange: Hashable, Sendable {
  /// The state, with a higher revision where it is another one.
  package private(set) var state: AccountStateRecord
  /// Whether it is another one than before, of which the device has to hear.
  package let isChanged: Bool

  /// A state that is to be written at a time, in seconds since 1970; `isChanged` says whether it is another one than before.
  package init(_ state: AccountStateRecord, isChanged: Bool, at time: Int64) {
    self.state = state
    self.isChanged = isChanged || state.isAltered
    if state.isAltered { self.state.revision = time }
    if self.isChanged { self.state.revision += 1 }
  }

  /// The container as it is to be written.
  package func container(_ container: ContainerRecord) -> ContainerRecord {
    var container = container
    (container.standing, container.reportWanted) = (state.standing, state.revision)
    return container
  }

  /// What makes the container's codes, as it is to be written: a code is compared with what is in use, and looks at nothing else.
  ///
  /// It is `nil` where it stays: before its first use, and where its row was altered.
  package func credential(_ credential: CredentialRecord?) -> CredentialRecord? {
    guard var credential, ![.pending, .altered].contains(credential.state) else { return nil }
    credential.state = state.standing == .open ? .active : .disabled
    return credential
  }

  /// The event of a state that was found altered; `nil` for any other.
  package func alteration(of container: ContainerRecord) -> AuditEvent? {
    state.isAltered ? .accountAltered(user: container.user, container: container.id) : nil
  }
}

extension AccountStateRecord {
  /// What the successor of a container takes over, since new keys end no lock; `nil` for nothing.
  package func carried(at time: Int64) -> AccountStateChange? {
    guard self != AccountStateRecord() else { return nil }
    var state = self
    (state.challenge, state.challengeExpires) = (nil, 0)
    return AccountStateChange(state, isChanged: revision > 0 || standing != .open, at: time)
  }
}

/// What a report whose challenge was open comes to.
package struct TakenReport: Hashable, Sendable {
  /// The state, with the report in it and the challenge used up.
  package let change: AccountStateChange
  /// The order that it leads to; `nil` for none, and where the container is to be wiped already.
  package let order: DeviceCommandRecord?
  /// How it goes into the audit log: each time where it comes to something else than the one before, or leads to an order.
  package let entry: OutcomeEntry
  /// Whether the device has heard of everything, and done it: no further report is wanted.
  package let isSettled: Bool

  /// Judges a report; `nil` where its container is not in use, or its challenge not open.
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
    let isOther = order != nil || state.standing != before.standing
    change = AccountStateChange(
      state, isChanged: isOther || state.reason != before.reason, at: attempt.time)
    entry = isOther || state.verdict != before.verdict ? .always : .limited(.container(attempt.container))
    isSettled = !change.isChanged && attempt.seen >= state.revision && !orders.contains(where: \.isOpen)
  }
}
