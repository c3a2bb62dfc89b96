import SignetSQL

extension Storage {
  /// Returns the server's state of a container: its lock, its policies and its last report.
  ///
  /// - Returns: The state; `nil` if there is no such container.
  package func accountState(of container: ContainerID) async throws(StorageFailure) -> AccountStateRecord? {
    try await read { database in
      guard try database.exists("SELECT 1 FROM containers WHERE id = $1", [.of(container)]) else {
        return nil
      }
      return try database.accountState(of: container)
    }
  }

  /// Returns the time of a container's last report, in seconds since 1970; `nil` for none.
  package func lastReport(of container: ContainerID) async throws(StorageFailure) -> Int64? {
    try await read { try $0.lastReport(of: container) }
  }

  /// Attaches policies to an active container; they replace those of its profile, or earlier ones.
  ///
  /// - Parameters:
  ///   - policies: Their JSON form; `nil` to return to those of the profile.
  ///   - container: The container.
  ///   - audit: The event.
  /// - Returns: `true` if there is such an active container.
  /// - Throws: ``StorageFailure``.
  package func setAccountPolicies(
    _ policies: [UInt8]?, of container: ContainerID, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard try database.container(container)?.isInUse ?? false else { return false }
      var state = try database.accountState(of: container)
      state.policies = policies
      try database.apply(
        AccountStateChange(state, isChanged: true, at: audit.time), to: container, at: audit.time)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Sets the challenge that the next report of a container has to answer; it replaces an earlier one.
  ///
  /// - Parameters:
  ///   - challenge: The challenge.
  ///   - expires: When it expires.
  ///   - container: The container.
  ///   - time: The time of the step.
  /// - Throws: ``StorageFailure``.
  package func setAccountChallenge(
    _ challenge: [UInt8], expires: Int64, of container: ContainerID, at time: Int64
  ) async throws(StorageFailure) {
    try await write { database in
      var state = try database.accountState(of: container)
      (state.challenge, state.challengeExpires) = (challenge, expires)
      try database.apply(
        AccountStateChange(state, isChanged: false, at: time), to: container, at: time)
    }
  }

  /// Accepts a report: uses up its challenge, and writes the effects that ``AcceptedReport`` derives.
  ///
  /// - Parameters:
  ///   - attempt: The report and its evaluation.
  ///   - audit: Makes the event.
  /// - Returns: `true` if its challenge was open; otherwise nothing but the event is written.
  /// - Throws: ``StorageFailure``.
  package func acceptAccountReport(
    _ attempt: AccountReportAttempt, audit: @escaping @Sendable (Bool) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      let id = attempt.container
      let (container, state) = (try database.container(id), try database.accountState(of: id))
      let report = AcceptedReport(attempt, of: container, at: state, try database.deviceCommands(of: id))
      let event = audit(report != nil)
      guard let report else {
        try database.appendRepeatable(event, of: .container(id))
        return false
      }
      if let order = report.order { try database.insert(order) }
      try database.apply(report.change, to: id, at: attempt.time)
      if report.isSettled { try database.clearReportRequest(of: id) }
      try database.appendAudit(event, as: report.entry)
      try database.endWhatIsLocked(with: id, after: event, at: attempt.time)
      return true
    }
  }

  /// Adds an order for an active container; a lock or an unlock takes effect at once on the server, also for the rest of its device.
  ///
  /// - Returns: The outcome; the event is written if the order was added.
  /// - Throws: ``StorageFailure/deviceLocked`` for an unlock while an operator's lock of the device itself is in force.
  package func addDeviceCommand(
    _ order: DeviceCommandRecord, audit: AuditRecord
  ) async throws(StorageFailure) -> DeviceCommandOutcome {
    try await write { database in
      let container = try database.container(order.container)
      let orders = try database.deviceCommands(of: order.container)
      let outcome = order.outcome(to: container, after: orders)
      guard outcome == .added else { return outcome }
      if order.action == .unlock, let container,
        let device = try database.anyDevice(container.installation, of: container.user),
        let refusal = device.refusalToUnlock
      {
        throw refusal
      }
      try database.give(order, at: database.accountState(of: order.container))
      try database.appendAudit(audit)
      try database.endWhatIsLocked(with: order.container, after: audit, at: order.created)
      return .added
    }
  }

  /// Returns a container's orders, oldest first, including those with receipts and those whose row MAC does not verify.
  package func deviceCommands(of container: ContainerID) async throws(StorageFailure) -> [DeviceCommandRecord]
  {
    try await read { try $0.deviceCommands(of: container) }
  }

  /// Stores the receipt for an order; the first receipt is kept.
  ///
  /// The receipt for a wipe ends the container and the UAF keys on its device.
  ///
  /// - Parameters:
  ///   - id: The order.
  ///   - container: The container that was ordered.
  ///   - receipt: The JWS.
  ///   - time: The time of receipt.
  ///   - audit: The event, written the first time.
  ///   - lost: Makes the event for each item that is lost with the container.
  /// - Returns: `true` if the container has such an order.
  /// - Throws: ``StorageFailure``.
  package func receiveDeviceCommand(
    _ id: DeviceCommandID, of container: ContainerID, receipt: String, at time: Int64, audit: AuditRecord,
    lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      let orders = try database.deviceCommands(of: container)
      guard let order = try orders.first(where: { $0.id == id })?.checked() else { return false }
      guard let done = order.acknowledged(by: receipt, at: time) else { return true }
      try database.update(done)
      if done.action == .wipe, let end = try database.end(of: container, as: ContainerEnd.wiped) {
        try database.apply(end, after: audit, at: time, lost)
      } else {
        try database.appendAudit(audit)
        try database.recordChange(ofContainer: container)
      }
      return true
    }
  }
}

extension SQLConnection {
  /// If the container is now locked, ends the pending requests to its user as ``endUnanswerable(of:after:at:)`` does.
  fileprivate func endWhatIsLocked(with id: ContainerID, after cause: AuditRecord, at time: Int64) throws {
    guard let container = try container(id), container.isLocked else { return }
    try endUnanswerable(of: container.user, after: cause, at: time)
  }

  /// Returns the server's state of a container; if its row was altered or removed, the state is locked.
  func accountState(of container: ContainerID) throws -> AccountStateRecord {
    let mac = try rowMAC
    let found = try row(
      "SELECT \(AccountStateRecord.columns) FROM account_states WHERE container = $1", [.of(container)]
    ) { try AccountStateRecord($0, of: container, mac) }
    return found ?? .altered
  }

  /// Returns the time of a container's last report.
  func lastReport(of container: ContainerID) throws -> Int64? { try accountState(of: container).reported }

  /// Adds an order for an active container, and writes its immediate effects.
  fileprivate func give(_ order: DeviceCommandRecord, at state: AccountStateRecord) throws {
    try insert(order)
    let change = AccountStateChange(state.ordered(order), isChanged: true, at: order.created)
    try apply(change, to: order.container, at: order.created)
  }

  /// Gives an order to the active containers on a device; other kinds of authenticators do not take orders.
  ///
  /// - Parameters:
  ///   - action: The action; an unlock is given only to a container that an operator has locked.
  ///   - device: The device.
  ///   - order: Makes the order for a container id, with its event.
  /// - Returns: The orders.
  /// - Throws: ``SQLFailure``.
  func give(
    _ action: DeviceCommandRecord.Action, on device: DeviceRecord,
    _ order: (ContainerID) -> (DeviceCommandRecord, AuditRecord)
  ) throws -> [DeviceCommandRecord] {
    try containersInUse(on: device).compactMap { container in
      let state = try accountState(of: container.id)
      guard state.awaits(action) else { return nil }
      let (record, event) = order(container.id)
      try give(record, at: state)
      try appendAudit(event)
      return record
    }
  }

  /// Returns the orders to all active containers on a device.
  func deviceCommands(on device: DeviceRecord) throws -> [DeviceCommandRecord] {
    try containersInUse(on: device).flatMap { try deviceCommands(of: $0.id) }
  }

  private func containersInUse(on device: DeviceRecord) throws -> [ContainerRecord] {
    try containers(on: device.installation, of: device.user).filter(\.isInUse)
  }

  /// Stops asking a device for reports, once it has carried out every order.
  fileprivate func clearReportRequest(of container: ContainerID) throws {
    let settled = try execute(
      "UPDATE containers SET report_wanted = 0 WHERE id = $1 AND report_wanted > 0", [.of(container)])
    if settled > 0 { try recordChange(ofContainer: container) }
  }

  /// Writes a state and its effects on the container, its one-time passwords and its device.
  ///
  /// If the state was found altered, an event records that, and requests that no other authenticator of the user can answer end.
  fileprivate func apply(_ change: AccountStateChange, to id: ContainerID, at time: Int64) throws {
    try write(change.state, of: id)
    guard change.isChanged, let container = try container(id) else { return }
    try update(change.container(container))
    if let credential = change.credential(try anyCredential(ID(of: id))) { try update(credential) }
    try settleDevice(container.installation, of: container.user, at: time)
    try recordChange(ofContainer: id)
    guard let alteration = change.alteration(of: container) else { return }
    let event = AuditRecord(alteration, by: .server, at: time)
    try appendAudit(event)
    try endWhatIsLocked(with: id, after: event, at: time)
  }

  /// Transfers the state and the open orders of a container to its successor.
  func carryAccountState(from renewed: ContainerID, to successor: ContainerID, at time: Int64) throws {
    guard let change = try accountState(of: renewed).carried(at: time) else { return }
    for var order in try deviceCommands(of: renewed) where order.isOpen {
      order.container = successor
      try update(order)
    }
    try apply(change, to: successor, at: time)
  }
}

extension ComplianceState: SQLRepresentable {}
