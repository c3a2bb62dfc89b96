import SignetSQL

extension Storage {
  /// Notes that a container's device is to renew it.
  ///
  /// - Returns: Whether there is such a container in use.
  public func askForRenewal(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard try database.container(id)?.state == .active else { return false }
      try database.execute(
        "UPDATE containers SET renewal_wanted = 1 WHERE id = $1", [.text(id)], changing: 1)
      try database.noteChange(ofContainer: id)
      try database.appendAudit(audit)
      return true
    }
  }

  /// Ends one *finish* message of a renewal: what it proves was verified by the caller, this counts and remembers.
  ///
  /// A wrong one counts as a wrong signature and as a failed code of the container; at the `limit` of either, any is refused, so
  /// nothing is learnt from it. A right one adds the successor as pending, in the place of an earlier pending one of
  /// the same container; unless one of its public keys belongs to an authenticator of whatever kind, the present one included.
  ///
  /// - Parameters:
  ///   - id: The container that is renewed.
  ///   - successor: What comes in its place; `nil` where the present keys did not prove it.
  ///   - limit: Wrong signatures, or codes, in a row after which nothing is taken.
  ///   - audit: Makes the event.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func stageRenewal(
    of id: String, by successor: NewContainer?, limit: Int,
    audit: @escaping @Sendable (RenewalOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> RenewalOutcome {
    try await write { database in
      let container = try database.requireActiveUser(ofContainer: id)
      let isReplacing = try database.exists(
        "SELECT 1 FROM containers WHERE renews = $1 AND state = 'pending'", [.text(id)])
      let outcome = try database.stageRenewal(of: id, container, by: successor, limit: limit)
      if outcome == .staged, !isReplacing {
        try database.appendAudit(audit(outcome))
      } else {
        try database.appendRepeatable(audit(outcome), of: .container(id))
      }
      return outcome
    }
  }

  /// Revokes a container for good, and notes how its device ended it; the first time only.
  ///
  /// Where the device wiped one that was in use, what UAF has there goes with it. Where one ends that was locked, the device stays
  /// locked, unless an operator has ordered the wipe: otherwise who holds it would end the lock with the container.
  ///
  /// - Parameters:
  ///   - id: The container, in whatever state.
  ///   - ended: How, in the protocol's word.
  ///   - audit: The event, and when; written the first time.
  ///   - lost: Makes the event of what goes with it.
  /// - Returns: Whether this was the first time; no where there is no such container.
  /// - Throws: ``StorageFailure``.
  public func endContainer(
    _ id: String, as ended: String, audit: AuditRecord,
    lost: @escaping @Sendable (DeviceLoss) -> AuditRecord
  ) async throws(StorageFailure) -> Bool {
    let codes = codes
    return try await write { database in
      guard let container = try database.container(id), container.ended == nil else { return false }
      try database.end(container, as: ended, at: audit.time, audit: audit, codes, lost)
      try database.noteChange(ofContainer: id)
      return true
    }
  }
}

extension SQLConnection {
  /// What the protocol calls the end of a container that was deleted against its user's will.
  static var wiped: String { "wiped" }

  /// Ends a container as its device says, with what goes with it.
  func end(
    _ container: ContainerRecord, as ended: String, at time: Int64, audit: AuditRecord, _ codes: RowCodes,
    _ lost: (DeviceLoss) -> AuditRecord
  ) throws {
    // Told before the row says that it has ended.
    let (reason, isOrdered) = (try accountState(of: container.id).reason, try isWipeOrdered(container.id))
    var revoked = container
    revoked.ended = ended
    try revoke(revoked)
    try appendAudit(audit)
    guard container.state == .active else { return }
    if ended == Self.wiped {
      try revoke(on: container.installation, of: container.user, but: .container, at: time, lost)
    }
    let staysLocked = container.standing == .locked && !(ended == Self.wiped && isOrdered)
    try settleDevice(
      container.installation, of: container.user, locking: staysLocked ? reason : nil, at: time, codes)
    try endUnanswerable(of: container.user, after: audit, at: time)
  }

  fileprivate func stageRenewal(
    of id: String, _ container: ContainerRecord?, by successor: NewContainer?, limit: Int
  ) throws -> RenewalOutcome {
    // A renewal proves the signing key and the secret of codes. Who has one of them can set back one count, not both.
    let failures = try number("SELECT failures FROM credentials WHERE id = $1", [.text(id)])
    guard failures ?? 0 < limit else { return .locked }
    switch try countSignature(of: container, isGood: successor != nil, limit: limit) {
    case nil: break
    case .notSigned:
      _ = try execute("UPDATE credentials SET failures = failures + 1 WHERE id = $1", [.text(id)])
      return .notSigned
    case .locked: return .locked
    default: return .gone
    }
    guard let successor else { return .notSigned }
    try forgetFailures(of: id)
    guard try !hasTakenKey(successor, replacing: "renews", id) else { return .keyTaken }
    // A lost answer makes the device begin anew: what it never heard of is good for nothing.
    try removePending("renews", id)
    try insert(successor)
    return .staged
  }
}
