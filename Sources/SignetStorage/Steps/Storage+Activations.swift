import SignetSQL

extension Storage {
  /// Adds an open activation; it replaces an earlier open one of the same user.
  ///
  /// - Throws: ``StorageFailure/unknown`` for an unknown user.
  package func addActivation(_ activation: ActivationRecord, audit: AuditRecord) async throws(StorageFailure)
  {
    try await write { database in
      try database.requireUsable(user: activation.user)
      _ = try database.endActivations(.replaced, "user_id", .of(activation.user))
      try database.insert(activation)
      try database.appendAudit(audit)
    }
  }

  /// Returns the user's open activation, even if it has expired; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify: a new invite replaces it.
  package func openActivation(user: UserID) async throws(StorageFailure) -> ActivationRecord? {
    try await read { try $0.openActivation("user_id", .of(user)) }
  }

  /// Handles one *finish* message whose proof the caller has verified, by the rule of
  /// ``ActivationRecord/outcome(isProved:isKeyTaken:limit:at:)``.
  ///
  /// A wrong proof (`container` is `nil`) adds a failed attempt. A right one adds the container and its credential as
  /// pending; they replace an earlier pending container of the same activation.
  ///
  /// - Throws: ``StorageFailure/deviceLocked`` for a container on a locked device.
  package func finishActivation(
    _ id: ID<ActivationRecord>, container: NewContainer?, limit: Int, at time: Int64,
    audit: @escaping @Sendable (ActivationOutcome) -> AuditRecord?
  ) async throws(StorageFailure) -> ActivationOutcome {
    try await write { database in
      if let container = container?.container {
        try database.requireUsable(knownUser: container.user)
        try database.requireUsable(device: container.installation, of: container.user)
      }
      let outcome = try database.finishActivation(id, container: container, limit: limit, at: time)
      if let event = audit(outcome) {
        try database.appendAudit(event, as: outcome.entry(of: id))
      }
      return outcome
    }
  }

  /// Activates a pending container, marks its activation as used, and revokes earlier containers of the same user and device.
  ///
  /// A container that renews another becomes active only while that one is active; its activation is not changed.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - time: The current time, in seconds since 1970.
  ///   - audit: Makes the event.
  ///   - lost: Makes the event of each container that is revoked, except the one that it renews.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure/deviceLocked`` for a container on a locked device, unless it renews another, whose lock is
  ///   transferred to it.
  package func confirmContainer(
    _ id: ContainerID, at time: Int64, audit: @escaping @Sendable (ConfirmationOutcome) -> AuditRecord,
    lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> ConfirmationOutcome {
    try await write { database in
      let container = try database.requireUsable(userOfContainer: id)
      let outcome = try database.confirm(container, at: time, lost)
      let event = audit(outcome)
      try database.appendAudit(event, as: outcome.entry(of: id))
      // The container that it replaces may have been able to answer requests that this one cannot.
      if let container, outcome == .activated {
        try database.endUnanswerable(of: container.user, after: event, at: time)
      }
      return outcome
    }
  }
}

extension SQLConnection {
  /// Returns the open activation that has a value in a column; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` if the row's MAC does not verify; ``SQLFailure``.
  fileprivate func openActivation(_ column: String, _ value: SQLValue) throws -> ActivationRecord? {
    try record("WHERE \(column) = $1 AND state = 'open'", [value])
  }

  /// Ends the open activations that have a value in a column, and erases their sealed invite keys.
  ///
  /// Their rows also lose the MAC, so that an attacker with write access to the database cannot reopen them.
  ///
  /// - Returns: The number of ended activations.
  func endActivations(_ state: ActivationRecord.State, _ column: String, _ value: SQLValue) throws -> Int {
    try execute(
      "UPDATE activations SET state = $1, sealed_invite_key = $2, code = NULL WHERE \(column) = $3 AND state = 'open'",
      [.text(state.rawValue), .blob([]), value])
  }

  fileprivate func finishActivation(
    _ id: ID<ActivationRecord>, container: NewContainer?, limit: Int, at time: Int64
  ) throws -> ActivationOutcome {
    let isKeyTaken = try container.map { try hasTakenKey($0, replacing: "activation", .of(id)) } ?? false
    let open = try openActivation("id", .of(id))
    let outcome =
      open?.outcome(isProved: container != nil, isKeyTaken: isKeyTaken, limit: limit, at: time) ?? .closed
    switch (outcome, container) {
    case (.wrongProof, _):
      try execute(
        "UPDATE activations SET failed_attempts = failed_attempts + 1 WHERE id = $1", [.of(id)], changing: 1
      )
    case (.staged, let container?):
      try removePending("activation", .of(id))
      try insert(container)
    case (.staged, nil), (.keyTaken, _), (.closed, _): break
    }
    return outcome
  }

  fileprivate func confirm(
    _ container: ContainerRecord?, at time: Int64, _ lost: (DeviceLoss) -> AuditRecord
  ) throws -> ConfirmationOutcome {
    let mac = try rowMAC
    guard var container else { return .gone }
    switch ContainerConfirmation(of: container) {
    case .settled(let outcome): return outcome
    case .renewal(let renewed):
      // A container that has ended in the meantime has no successor.
      guard try self.container(renewed)?.isInUse ?? false else { return .gone }
    case .activation(let activation):
      try requireUsable(device: container.installation, of: container.user)
      guard try openActivation("id", .of(activation)) != nil else { return .gone }
      _ = try endActivations(.used, "id", .of(activation))
    }
    for earlier in try containers(of: container.user, "state = 'active'")
    where earlier.device == container.device {
      try revoke(earlier)
      if earlier.id != container.renews { try appendAudit(lost(.container(earlier.id))) }
    }
    container.state = .active
    try update(container)
    if var credential = try credential(ID(of: container.id)) {
      credential.state = .active
      try update(credential)
    }
    if let renewed = container.renews {
      _ = try execute(
        "UPDATE push_targets SET container = $1 WHERE container = $2", [.of(container.id), .of(renewed)])
      try carryAccountState(from: renewed, to: container.id, at: time)
    }
    try bind(DeviceRecord(of: container, at: time, mac))
    return .activated
  }
}
