import SignetSQL

extension Storage {
  /// Adds a target.
  ///
  /// - Parameters:
  ///   - target: The target.
  ///   - basis: The authentication of the UAF caller, which must not be on a locked device; `nil` for other callers.
  ///   - limit: The maximum number of targets of a user.
  ///   - audit: The event, written if the target is added.
  /// - Returns: `true` if it was added; `false` if the user has the maximum number.
  /// - Throws: ``StorageFailure/unknown`` for an unknown user, ``StorageFailure/exists`` if the user has a target of this
  ///   name, ``StorageFailure/deviceLocked``, ``StorageFailure/unauthorized`` if `basis` is no longer valid.
  package func addUAFTarget(
    _ target: UAFTargetRecord, by basis: UAFBasis? = nil, limit: Int, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let mac = mac
    return try await write { database in
      try database.requireUsable(user: target.user)
      try database.requireUsable(device: target.device, of: target.user)
      try database.requireUsable(basis: basis)
      let present = try database.number(
        "SELECT count(*) FROM uaf_targets WHERE user_id = $1", [.of(target.user)])
      guard UAFTargetRecord.hasRoom(beside: present ?? 0, limit: limit) else { return false }
      try database.insert(target)
      if let device = target.device {
        try database.bind(
          DeviceRecord(of: target.user, device, name: target.name, at: target.created, mac))
      }
      try database.appendTargetAudit(audit, of: target.user)
      return true
    }
  }

  /// Returns the target with this id; `nil` for none.
  package func uafTarget(_ id: ID<UAFTargetRecord>) async throws(StorageFailure) -> UAFTargetRecord? {
    try await read { try $0.uafTarget(id) }
  }

  /// Returns a user's targets, oldest first.
  package func uafTargets(user: UserID) async throws(StorageFailure) -> [UAFTargetRecord] {
    try await read { try $0.records("WHERE user_id = $1 ORDER BY created, id", [.of(user)]) }
  }

  /// Returns the targets on a device, oldest first.
  package func uafTargets(device: String) async throws(StorageFailure) -> [UAFTargetRecord] {
    try await read { try $0.records("WHERE device = $1 ORDER BY created, id", [.text(device)]) }
  }

  /// Returns all targets, oldest first, at most `limit`.
  package func uafTargets(limit: Int) async throws(StorageFailure) -> [UAFTargetRecord] {
    try await read { try $0.records("ORDER BY created, id LIMIT $1", [.int(max(0, limit))]) }
  }

  /// Removes the targets of a user on a device, with their operations, and the user's keys on it.
  ///
  /// Revoked keys are kept, and so is the device's row, so that the device stays locked.
  ///
  /// - Returns: `true` if there was anything to remove.
  package func removeUAFDevice(
    _ device: String, of user: UserID, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    return try await write { database in
      let parameters: [SQLValue] = [.text(device), .of(user)]
      for target in try database.uafTargets(on: device, of: user) {
        try database.failUAFOperations(ofTarget: target, at: audit.time)
      }
      let targets = try database.execute(
        "DELETE FROM uaf_targets WHERE device = $1 AND user_id = $2", parameters)
      let keys = try database.execute(
        "DELETE FROM uaf_credentials WHERE device = $1 AND user_id = $2 AND state <> 'revoked'", parameters)
      guard targets + keys > 0 else { return false }
      if keys > 0 {
        try database.appendAudit(audit)
      } else {
        try database.appendTargetAudit(audit, of: user)
      }
      try database.endUnanswerable(of: user, after: audit, at: audit.time)
      return true
    }
  }

  /// Changes a target of an active user, on a device that is not locked; only the removal of the address is allowed in any state.
  ///
  /// - Returns: `true` if there is such a target.
  /// - Throws: ``StorageFailure/exists`` if the user has another target of this name, ``StorageFailure/userNotActive(_:)``,
  ///   ``StorageFailure/deviceLocked``.
  package func changeUAFTarget(
    _ id: ID<UAFTargetRecord>, _ change: UAFTargetChange, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    return try await write { database in
      let columns = try database.row(
        "SELECT user_id, name, dispatcher, sealed_target FROM uaf_targets WHERE id = $1", [.of(id)]
      ) { (try $0.user(0), try $0.text(1), try $0.optional(2, $0.text), try $0.optional(3, $0.blob)) }
      guard let (user, name, dispatcher, present) = columns else { return false }
      if !change.onlyRemovesAddress {
        try database.requireUsable(owner: user)
        try database.requireUsable(deviceOfTarget: id)
      }
      try database.execute(
        "UPDATE uaf_targets SET name = $2, dispatcher = $3, sealed_target = $4 WHERE id = $1",
        [
          .of(id), .text(change.name ?? name), .optional(change.dispatcher ?? dispatcher),
          .optional(change.address(after: present)),
        ], changing: 1)
      try database.appendTargetAudit(audit, of: user)
      return true
    }
  }

  /// Removes a target; its open operations end, except deregistrations.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - basis: The authentication of the UAF caller, who removes nothing on another device while that of the caller is
  ///     locked; `nil` for other callers.
  ///   - audit: The event.
  /// - Returns: `true` if there was such a target.
  /// - Throws: ``StorageFailure``; ``StorageFailure/deviceLocked`` and ``StorageFailure/unauthorized`` by `basis`.
  package func removeUAFTarget(
    _ id: ID<UAFTargetRecord>, by basis: UAFBasis? = nil, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    return try await write { database in
      let found = try database.row("SELECT user_id, device FROM uaf_targets WHERE id = $1", [.of(id)]) {
        (owner: try $0.user(0), device: try $0.optional(1, $0.text))
      }
      guard let (owner, device) = found else { return false }
      if let refusal = try database.reach(of: basis).refusalToRemove(targetOn: device) { throw refusal }
      try database.failUAFOperations(ofTarget: id, at: audit.time)
      // The event is written before the deletion, because the lookup of its device needs the row.
      try database.appendTargetAudit(audit, of: owner)
      try database.execute("DELETE FROM uaf_targets WHERE id = $1", [.of(id)], changing: 1)
      try database.endUnanswerable(of: owner, after: audit, at: audit.time)
      return true
    }
  }
}

extension SQLConnection {
  /// Appends an event of a target: events by its user or its device are limited, because these can repeat them without limit.
  fileprivate func appendTargetAudit(_ record: AuditRecord, of user: UserID) throws {
    switch record.by {
    case .user, .target: try appendRepeatable(record, of: .targets(user: user))
    default: try appendAudit(record)
    }
  }
}

extension SQLConnection {
  /// Checks the device of a target, as ``requireUsable(device:of:)`` does.
  ///
  /// - Returns: `true` if there is such a target, or `target` is `nil`.
  @discardableResult
  func requireUsable(deviceOfTarget target: ID<UAFTargetRecord>?) throws -> Bool {
    guard let target else { return true }
    guard let found = try uafTarget(target) else { return false }
    try requireUsable(device: found.device, of: found.user)
    return true
  }

  /// Returns a user's target, unless its device is locked; `nil` also if its row's MAC does not verify.
  func reachableTarget(_ id: ID<UAFTargetRecord>?, of user: UserID) throws -> UAFTargetRecord? {
    guard let id else { return nil }
    do {
      guard let target = try uafTarget(id), target.user == user,
        try !isLocked(target.device, of: user)
      else { return nil }
      return target
    } catch StorageFailure.altered { return nil }
  }
}
