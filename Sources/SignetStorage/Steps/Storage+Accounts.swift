public import SignetSQL

extension Storage {
  /// How the server stands to a container.
  ///
  /// - Returns: The state; `nil` where there is no such container.
  public func accountState(of container: String) async throws(StorageFailure) -> AccountStateRecord? {
    try await read { database in
      guard try database.exists("SELECT 1 FROM containers WHERE id = $1", [.text(container)]) else {
        return nil
      }
      return try database.accountState(of: container)
    }
  }

  /// When a container's last report came, in seconds since 1970; `nil` for none.
  package func lastReport(of container: String) async throws(StorageFailure) -> Int64? {
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
    _ policies: [UInt8]?, of container: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      guard try database.isInUse(container) else { return false }
      var state = try database.accountState(of: container)
      state.policies = policies
      try database.store(state, of: container, isChanged: true, at: audit.time, codes)
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
    _ challenge: [UInt8], expires: Int64, of container: String, at time: Int64
  ) async throws(StorageFailure) {
    let codes = codes
    try await write { database in
      var state = try database.accountState(of: container)
      (state.challenge, state.challengeExpires) = (challenge, expires)
      try database.store(state, of: container, isChanged: false, at: time, codes)
    }
  }

  /// Takes a report: its challenge is used up, and what the caller makes of it is written down.
  ///
  /// An order that it leads to is left out where the container is to be deleted already.
  ///
  /// - Parameters:
  ///   - attempt: The report, and what to make of it.
  ///   - audit: Makes the event.
  /// - Returns: Whether its challenge was open; otherwise nothing but the event is written.
  /// - Throws: ``StorageFailure``.
  public func takeAccountReport(
    _ attempt: AccountReportAttempt, audit: @escaping @Sendable (Bool) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      let news = try database.take(attempt, codes)
      let event = audit(news != nil)
      if news == true {
        try database.appendAudit(event)
      } else {
        try database.appendRepeatable(event, of: .container(attempt.container))
      }
      if news != nil { try database.endWhatIsLocked(with: attempt.container, after: event, at: attempt.time) }
      return news != nil
    }
  }

  /// Adds an order for a container in use; a lock and an unlock count at once for all that the server itself does, and for what else
  /// is on its device.
  ///
  /// - Returns: What became of it; the event is written where it was added.
  /// - Throws: ``StorageFailure/deviceLocked`` for an unlock while an operator has the device itself locked.
  public func addAccountOrder(
    _ order: AccountOrderRecord, audit: AuditRecord
  ) async throws(StorageFailure) -> AccountOrderOutcome {
    let codes = codes
    return try await write { database in
      guard try database.isInUse(order.container) else { return .notInUse }
      if order.action == .unlock {
        if try database.isToBeWiped(order.container) { return .toBeWiped }
        guard try !database.isOnLockedDevice(order.container, codes) else {
          throw StorageFailure.deviceLocked
        }
      }
      try database.give(order, codes)
      try database.appendAudit(audit)
      try database.endWhatIsLocked(with: order.container, after: audit, at: order.created)
      return .added
    }
  }

  /// A container's orders, oldest first, those with receipts included; also those whose rows were altered.
  public func accountOrders(of container: String) async throws(StorageFailure) -> [AccountOrderRecord] {
    try await read { try $0.accountOrders(of: container) }
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
  public func receiveAccountOrder(
    _ id: String, of container: String, receipt: String, at time: Int64, audit: AuditRecord,
    lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      let found = try database.accountOrders(of: container).first { $0.id == id }
      guard var order = try found?.checked() else { return false }
      guard order.isOpen else { return true }
      (order.receipt, order.received) = (receipt, time)
      try database.update(order)
      if order.action == .wipe, let found = try database.container(container), found.ended == nil {
        try database.end(found, as: SQLConnection.wiped, at: time, audit: audit, codes, lost)
      } else {
        try database.appendAudit(audit)
      }
      try database.noteChange(ofContainer: container)
      return true
    }
  }
}

extension SQLConnection {
  /// Ends what waits for the user of a container that is locked now, as ``endUnanswerable(of:after:at:)`` does.
  fileprivate func endWhatIsLocked(with id: String, after cause: AuditRecord, at time: Int64) throws {
    guard let container = try container(id), container.standing == .locked else { return }
    try endUnanswerable(of: container.user, after: cause, at: time)
  }

  fileprivate func isInUse(_ container: String) throws -> Bool {
    try self.container(container)?.state == .active
  }

  /// How the server stands to a container; it is locked where that was altered, or somebody has removed it.
  func accountState(of container: String) throws -> AccountStateRecord {
    let codes = try rowCodes
    let found = try row(
      "SELECT \(AccountStateRecord.columns) FROM account_states WHERE container = $1", [.text(container)]
    ) { try AccountStateRecord($0, of: container, codes) }
    return found ?? .altered
  }

  /// When the last report of a container came.
  func lastReport(of container: String) throws -> Int64? { try accountState(of: container).reported }

  fileprivate func add(
    _ order: AccountOrderRecord, to state: inout AccountStateRecord
  ) throws {
    try insert(order)
    // Whoever orders something decides how the container stands from now on, and the order is on the record.
    state.isAltered = false
    switch order.action {
    // What is to be deleted is good for nothing until it is.
    case .lock, .wipe: (state.isOrderedLocked, state.orderedReason) = (true, order.reason)
    case .unlock: (state.isOrderedLocked, state.orderedReason) = (false, "")
    }
  }

  /// Adds an order for a container in use, and writes down what follows from it at once.
  fileprivate func give(_ order: AccountOrderRecord, _ codes: RowCodes) throws {
    var state = try accountState(of: order.container)
    try add(order, to: &state)
    try store(state, of: order.container, isChanged: true, at: order.created, codes)
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
    _ action: AccountOrderRecord.Action, on device: DeviceRecord,
    _ order: (String) -> (AccountOrderRecord, AuditRecord)
  ) throws -> [AccountOrderRecord] {
    try activeContainers(on: device)
      .filter { try action != .unlock || accountState(of: $0.id).isOrderedLocked }
      .map { container in
        let (record, event) = order(container.id)
        try give(record, rowCodes)
        try appendAudit(event)
        return record
      }
  }

  /// Whether a container of a device is to be deleted, and the device has not said that it is.
  func isAnythingToBeWiped(on device: DeviceRecord) throws -> Bool {
    try activeContainers(on: device).contains { try isToBeWiped($0.id) }
  }

  private func activeContainers(on device: DeviceRecord) throws -> [ContainerRecord] {
    try containers(on: device.installation, of: device.user).filter { $0.state == .active }
  }

  /// Whether an operator has locked the device itself that a container is on.
  fileprivate func isOnLockedDevice(_ container: String, _ codes: RowCodes) throws -> Bool {
    guard let found = try self.container(container) else { return false }
    return try device(found.installation, of: found.user, codes)?.isOrderedLocked ?? false
  }

  /// Whether the container is to be deleted, and its device has not said that it is.
  func isToBeWiped(_ container: String) throws -> Bool {
    try accountOrders(of: container).contains { $0.action == .wipe && $0.isOpen }
  }

  /// Whether an operator has ordered that a container is wiped, also where that was done since.
  func isWipeOrdered(_ container: String) throws -> Bool {
    try accountOrders(of: container).contains { $0.action == .wipe && !$0.isAltered }
  }

  /// Takes a report.
  ///
  /// - Returns: Whether it comes to something else than the one before, or leads to an order; `nil` where its challenge is not open.
  /// - Throws: ``SQLFailure``.
  fileprivate func take(_ attempt: AccountReportAttempt, _ codes: RowCodes) throws -> Bool? {
    guard try isInUse(attempt.container) else { return nil }
    var state = try accountState(of: attempt.container)
    guard state.challenge == attempt.challenge, state.challengeExpires > attempt.time else { return nil }
    let before = state
    (state.challenge, state.challengeExpires) = (nil, 0)
    (state.report, state.reported) = (attempt.report, attempt.time)
    (state.verdict, state.verdictReason) = (attempt.verdict, attempt.reason)
    var isOrdered = false
    if let order = attempt.order, try !isToBeWiped(attempt.container) {
      try add(order, to: &state)
      isOrdered = true
    }
    let isNews = isOrdered || state.verdict != before.verdict || state.standing != before.standing
    let isChanged = state.standing != before.standing || state.reason != before.reason || isOrdered
    try store(state, of: attempt.container, isChanged: isChanged, at: attempt.time, codes)
    guard !isChanged, attempt.seen >= state.revision,
      try !accountOrders(of: attempt.container).contains(where: \.isOpen)
    else { return isNews }
    // The device has heard of everything, and done it.
    let settled = try execute(
      "UPDATE containers SET report_wanted = 0 WHERE id = $1 AND report_wanted > 0",
      [.text(attempt.container)])
    if settled > 0 { try noteChange(ofContainer: attempt.container) }
    return isNews
  }

  /// Writes a state down, and what follows from it for the container, its codes, and its device.
  ///
  /// One that was found altered is a lock from now on: that is a change in any case, on the record, and requests that nothing else of the
  /// user's can answer end.
  fileprivate func store(
    _ state: AccountStateRecord, of container: String, isChanged: Bool, at time: Int64, _ codes: RowCodes
  ) throws {
    var state = state
    let isChanged = isChanged || state.isAltered
    if isChanged { state.revision += 1 }
    try write(state, of: container)
    guard isChanged else { return }
    guard var found = try self.container(container) else { return }
    (found.standing, found.reportWanted) = (state.standing, state.revision)
    try update(found)
    // Codes are compared with what is in use: nothing more is to be looked at for each of them.
    // One that was altered is good for nothing already, and keeps nothing from being locked.
    if var credential = try anyCredential(container), ![.pending, .altered].contains(credential.state) {
      credential.state = state.standing == .open ? .active : .disabled
      try update(credential)
    }
    try settleDevice(found.installation, of: found.user, at: time, codes)
    try noteChange(ofContainer: container)
    guard state.isAltered else { return }
    let event = AuditRecord(
      .accountAltered(user: found.user, container: container), by: .server, at: time)
    try appendAudit(event)
    try endWhatIsLocked(with: container, after: event, at: time)
  }

  /// Gives the successor of a container what was said of it: new keys end no lock.
  func carryAccountState(
    from renewed: String, to successor: String, at time: Int64, _ codes: RowCodes
  ) throws {
    var state = try accountState(of: renewed)
    guard state != AccountStateRecord() else { return }
    (state.challenge, state.challengeExpires) = (nil, 0)
    for var order in try accountOrders(of: renewed) where order.isOpen {
      order.container = successor
      try update(order)
    }
    let isChanged = state.revision > 0 || state.standing != .open
    try store(state, of: successor, isChanged: isChanged, at: time, codes)
  }
}

extension AccountStanding: SQLRepresentable {}
