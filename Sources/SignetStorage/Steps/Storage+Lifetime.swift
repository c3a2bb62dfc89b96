import SignetSQL

extension Storage {
  /// Asks a container's device to renew it.
  ///
  /// - Returns: `true` if there is such an active container.
  package func askForRenewal(_ id: ContainerID, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard try database.container(id)?.isInUse ?? false else { return false }
      try database.execute(
        "UPDATE containers SET renewal_wanted = 1 WHERE id = $1", [.of(id)], changing: 1)
      try database.recordChange(ofContainer: id)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Handles one *finish* message of a renewal, whose proof the caller has verified, by the rule of ``RenewalOutcome``.
  ///
  /// A wrong proof counts as a wrong signature and as a wrong code of the container. A right one adds the successor as
  /// pending; it replaces an earlier pending one of the same container.
  ///
  /// - Parameters:
  ///   - id: The container that is renewed.
  ///   - successor: The new container; `nil` if the present keys did not prove it.
  ///   - limit: The number of consecutive wrong signatures, or codes, that locks the container.
  ///   - audit: Makes the event.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``: ``StorageFailure/containerLocked`` for a container whose state is not ``ComplianceState/open``.
  package func stageRenewal(
    of id: ContainerID, by successor: NewContainer?, limit: Int,
    audit: @escaping @Sendable (RenewalOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> RenewalOutcome {
    try await write { database in
      let container = try database.requireUsable(container: id)
      if let refusal = container?.refusalToRenew { throw refusal }
      let isReplacing = try database.exists(
        "SELECT 1 FROM containers WHERE renews = $1 AND state = 'pending'", [.of(id)])
      let outcome = try database.stageRenewal(of: id, container, by: successor, limit: limit)
      try database.appendAudit(audit(outcome), as: outcome.entry(of: id, isReplacing: isReplacing))
      return outcome
    }
  }

  /// Revokes a container permanently, with the effects of ``ContainerEnd``, and records how its device ended it; the first time only.
  ///
  /// - Parameters:
  ///   - id: The container, in any state.
  ///   - ended: The kind of the end, in the protocol's word.
  ///   - audit: The event, whose time is the time of the end; written the first time.
  ///   - lost: Makes the event for each item that is lost with the container.
  /// - Returns: `true` if this was the first time; `false` also if there is no such container.
  /// - Throws: ``StorageFailure``.
  package func endContainer(
    _ id: ContainerID, as ended: String, audit: AuditRecord,
    lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard let end = try database.end(of: id, as: ended) else { return false }
      try database.apply(end, after: audit, at: audit.time, lost)
      return true
    }
  }
}

extension SQLConnection {
  /// Returns the end of a container as its device reports it; `nil` if it was reported before, or there is no such container.
  func end(of id: ContainerID, as ended: String) throws -> ContainerEnd? {
    guard let container = try container(id) else { return nil }
    return ContainerEnd(of: container, as: ended, try accountState(of: id), try deviceCommands(of: id))
  }

  /// Ends a container, with all effects.
  func apply(
    _ end: ContainerEnd, after cause: AuditRecord, at time: Int64, _ lost: (DeviceLoss) -> AuditRecord
  ) throws {
    let container = end.container
    try revoke(container)
    try recordChange(ofContainer: container.id)
    try appendAudit(cause)
    guard end.concernsDevice else { return }
    if end.revokesDevice {
      try revoke(on: container.installation, of: container.user, but: .container, at: time, lost)
    }
    try settleDevice(container.installation, of: container.user, locking: end.lock, at: time)
    try endUnanswerable(of: container.user, after: cause, at: time)
  }

  fileprivate func stageRenewal(
    of id: ContainerID, _ container: ContainerRecord?, by successor: NewContainer?, limit: Int
  ) throws -> RenewalOutcome {
    let codes = try number("SELECT failures FROM credentials WHERE id = $1", [.of(id)])
    let signatures = try number("SELECT failed_signatures FROM containers WHERE id = $1", [.of(id)])
    let isKeyTaken = try successor.map { try hasTakenKey($0, replacing: "renews", .of(id)) } ?? false
    let outcome = RenewalOutcome(
      of: container, failed: (codes: codes ?? 0, signatures: signatures ?? 0), isProved: successor != nil,
      isKeyTaken: isKeyTaken, limit: limit)
    switch outcome {
    case .notSigned:
      _ = try countSignature(of: id, failed: signatures ?? 0, isValid: false, limit: limit)
      _ = try execute("UPDATE credentials SET failures = failures + 1 WHERE id = $1", [.of(id)])
    case .keyTaken, .staged:
      _ = try countSignature(of: id, failed: signatures ?? 0, isValid: true, limit: limit)
      try forgetFailures(of: ID(of: id))
    case .locked, .gone: break
    }
    if let successor, outcome == .staged {
      // If an answer is lost, the device starts again: it never learnt of the earlier pending successor, which is useless.
      try removePending("renews", .of(id))
      try insert(successor)
    }
    return outcome
  }
}
