public import SignetSQL

extension Storage {
  /// How the server stands to a container.
  ///
  /// - Returns: The state; `nil` where there is no such container.
  public func accountState(of container: ContainerID) async throws(StorageFailure) -> AccountStateRecord? {
    try await read { database in
      guard try database.exists("SELECT 1 FROM containers WHERE id = $1", [.of(container)]) else {
        return nil
      }
      return try database.accountState(of: container)
    }
  }

  /// When a container's last report came, in seconds since 1970; `nil` for none.
  package func lastReport(of container: ContainerID) async throws(StorageFailure) -> Int64? {
    try await read { try $0.lastReport(of: container) }
  }

  /// Attaches policies to a container in use, in the place of those of its profile, or of earlier ones.
  ///
  /// - Parameters:
  ///   - policies: Their JSON form; `nil` for those of the profile again.
  ///   - container: The container.
  ///   - audit: The event.
  /// - Returns: Whether there is such a container in use.
  /// - Throws: ``StorageFailure``.
  public func setAccountPolicies(
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

  /// Sets what the next report of a container has to answer, in the place of an earlier challenge.
  ///
  /// - Parameters:
  ///   - challenge: The challenge.
  ///   - expires: When it ends.
  ///   - container: The container.
  ///   - time: When.
  /// - Throws: ``StorageFailure``.
  public func setAccountChallenge(
    _ challenge: [UInt8], expires: Int64, of container: ContainerID, at time: Int64
  ) async throws(StorageFailure) {
    try await write { database in
      var state = try database.accountState(of: container)
      (state.challenge, state.challengeExpires) = (challenge, expires)
      try database.apply(
        AccountStateChange(state, isChanged: false, at: time), to: container, at: time)
    }
  }

  /// Takes a report: its challenge is used up, and what ``TakenReport`` makes of it is written down.
  ///
  /// - Parameters:
  ///   - attempt: The report, and what to make of it.
  ///   - audit: Makes the event.
  /// - Returns: Whether its challenge was open; otherwise nothing but the event is written.
  /// - Throws: ``StorageFailure``.
  public func takeAccountReport(
    _ attempt: AccountReportAttempt, audit: @escaping @Sendable (Bool) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      let id = attempt.container
      let (container, state) = (try database.container(id), try database.accountState(of: id))
      let report = TakenReport(attempt, of: container, at: state, try database.deviceCommands(of: id))
      let event = audit(report != nil)
      guard let report else {
        try database.appendRepeatable(event, of: .container(id))
        return false
      }
      if let order = report.order { try database.insert(order) }
      try database.apply(report.change, to: id, at: attempt.time)
      if report.isSettled { try database.forgetWantedReport(of: id) }
      try database.appendAudit(event, as: report.entry)
      try database.endWhatIsLocked(with: id, after: event, at: attempt.time)
      return true
    }
  }

  /// Adds an order for a container in use; a lock and an unlock count at once for all that the server itself does, and for what else
  /// is on its device.
  ///
  /// - Returns: What became of it; the event is written where it was added.
  /// - Throws: ``StorageFailure/deviceLocked`` for an unlock while an operator has the device itself locked.
  public func addDeviceCommand(
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

  /// A container's orders, oldest first, those with receipts included; also those whose rows were altered.
  public func deviceCommands(of container: ContainerID) async throws(StorageFailure) -> [DeviceCommandRecord]
  {
    try await read { try $0.deviceCommands(of: container) }
  }

  /// Keeps the receipt for an order; the first one stays.
  ///
  /// That of a wipe ends the container, and what UAF has on its device.
  ///
  /// - Parameters:
  ///   - id: The order.
  ///   - container: Whose it is.
  ///   - receipt: The JWS.
  ///   - time: When it came.
  ///   - audit: The event, written the first time.
  ///   - lost: Makes the event of what goes with the container.
  /// - Returns: Whether there is such an order of the container.
  /// - Throws: ``StorageFailure``.
  public func receiveDeviceCommand(
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
  /// Ends what waits for the user of a container that is locked now, as ``endUnanswerable(of:after:at:)`` does.
  fileprivate func endWhatIsLocked(with id: ContainerID, after cause: AuditRecord, at time: Int64) throws {
    guard let container = try container(id), container.isLocked else { return }
    try endUnanswerable(of: container.user, after: cause, at: time)
  }

  /// How the server stands to a container; it is locked where that was altered, or somebody has removed it.
  func accountState(of container: ContainerID) throws -> AccountStateRecord {
    let mac = try rowMAC
    let found = try row(
      "SELECT \(AccountStateRecord.columns) FROM account_states WHERE container = $1", [.of(container)]
    ) { try AccountStateRecord($0, of: container, mac) }
    return found ?? .altered
  }

  /// When the last report of a container came.
  func lastReport(of container: ContainerID) throws -> Int64? { try accountState(of: container).reported }

  /// Adds an order for a container in use, and writes down what follows from it at once.
  fileprivate func give(_ order: DeviceCommandRecord, at state: AccountStateRecord) throws {
    try insert(order)
    let change = AccountStateChange(state.ordered(order), isChanged: true, at: order.created)
    try apply(change, to: order.container, at: order.created)
  }

  /// Gives an order to what takes orders on a device, which only containers do.
  ///
  /// - Parameters:
  ///   - action: What is to be done; to unlock is ordered where an operator has locked the container.
  ///   - device: The device.
  ///   - order: Makes the order for a container, of its id, with the event.
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

  /// The orders to all containers in use on a device.
  func deviceCommands(on device: DeviceRecord) throws -> [DeviceCommandRecord] {
    try containersInUse(on: device).flatMap { try deviceCommands(of: $0.id) }
  }

  private func containersInUse(on device: DeviceRecord) throws -> [ContainerRecord] {
    try containers(on: device.installation, of: device.user).filter(\.isInUse)
  }

  /// Has a device report no more, which has heard of everything and done it.
  fileprivate func forgetWantedReport(of container: ContainerID) throws {
    let settled = try execute(
      "UPDATE containers SET report_wanted = 0 WHERE id = $1 AND report_wanted > 0", [.of(container)])
    if settled > 0 { try recordChange(ofContainer: container) }
  }

  /// Writes a state down, and what follows from it for the container, its codes, and its device.
  ///
  /// That it was found altered is on the record, and requests that nothing else of the user's can answer end.
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

  /// Gives the successor of a container what was said of it.
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
