import SignetSQL

extension Storage {
  /// Adds an open activation; an earlier open one of the same user is replaced by it.
  ///
  /// - Throws: ``StorageFailure/unknown`` when there is no such user.
  public func addActivation(_ activation: ActivationRecord, audit: AuditRecord) async throws(StorageFailure) {
    try await write { database in
      try database.requireUsable(user: activation.user)
      _ = try database.endActivations(.replaced, "user_id", .of(activation.user))
      try database.insert(activation)
      try database.appendAudit(audit)
    }
  }

  /// The user's open activation, whether or not it has expired; `nil` for none.
  ///
  /// - Throws: ``StorageFailure``; ``StorageFailure/altered(row:of:)`` for one that this server has not written so: another invite
  ///   takes its place.
  public func openActivation(user: UserID) async throws(StorageFailure) -> ActivationRecord? {
    try await read { try $0.openActivation("user_id", .of(user)) }
  }

  /// Ends one *finish* message, whose proof was checked by the caller, as ``ActivationRecord/outcome(isProved:isKeyTaken:limit:at:)`` says.
  ///
  /// A wrong proof (`container` is `nil`) adds a failed attempt. A right one adds the container and its credential as pending, in the place
  /// of an earlier pending one of the same activation.
  ///
  /// - Throws: ``StorageFailure/deviceLocked`` for a container of a device that is locked.
  public func finishActivation(
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

  /// Makes a pending container active, its activation used, and revokes earlier ones of the same user and device.
  ///
  /// One that renews another becomes active only while that one is, and its activation stays as it is.
  ///
  /// - Parameters:
  ///   - id: The container.
  ///   - time: When.
  ///   - audit: Makes the event.
  ///   - lost: Makes the event of each that is revoked, but for the one that it renews.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure/deviceLocked`` for one on a device that is locked, unless it renews another, whose lock goes on to it.
  public func confirmContainer(
    _ id: ContainerID, at time: Int64, audit: @escaping @Sendable (ConfirmationOutcome) -> AuditRecord,
    lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> ConfirmationOutcome {
    try await write { database in
      let container = try database.requireUsable(userOfContainer: id)
      let outcome = try database.confirm(container, at: time, lost)
      let event = audit(outcome)
      try database.appendAudit(event, as: outcome.entry(of: id))
      // What it takes the place of may have shown more.
      if let container, outcome == .activated {
        try database.endUnanswerable(of: container.user, after: event, at: time)
      }
      return outcome
    }
  }
}

extension SQLConnection {
  /// The open activation that has a value in a column; `nil` for none.
  ///
  /// - Throws: ``StorageFailure/altered(row:of:)`` for one that this server has not written so; ``SQLFailure``.
  fileprivate func openActivation(_ column: String, _ value: SQLValue) throws -> ActivationRecord? {
    let mac = try rowMAC
    return try row(
      "SELECT \(ActivationRecord.columns) FROM activations WHERE \(column) = $1 AND state = 'open'",
      [value]
    ) { try ActivationRecord($0, mac) }
  }

  /// Ends the open activations that have a value in a column, and forgets what stands for their invites.
  ///
  /// Their rows have no MAC from then on, so that nobody opens them again.
  ///
  /// - Returns: How many there were.
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
      // One that ended meanwhile has no successor.
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
