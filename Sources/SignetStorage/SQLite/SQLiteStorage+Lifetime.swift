import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func askForRenewal(_ id: String, audit: AuditRecord) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE containers SET renewal_wanted = 1 WHERE id = ? AND state = 'active'", .text(id))
      guard database.changes == 1 else { return false }
      try database.noteChange(ofContainer: id)
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func stageRenewal(
    of id: String, by successor: NewContainer?, limit: Int,
    audit: @escaping @Sendable (RenewalOutcome) -> AuditRecord
  ) async throws(StorageFailure) -> RenewalOutcome {
    try await writer.write { database in
      let outcome = try database.stageRenewal(of: id, by: successor, limit: limit)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }

  /// As ``Storage`` says.
  public func endContainer(
    _ id: String, as ended: String, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE containers SET ended = ?, state = 'revoked' WHERE id = ? AND ended IS NULL", .text(ended),
        .text(id))
      guard database.changes == 1 else { return false }
      try database.removeCredential(id)
      try database.noteChange(ofContainer: id)
      try database.appendAudit(audit)
      return true
    }
  }
}

extension Database {
  fileprivate func stageRenewal(
    of id: String, by successor: NewContainer?, limit: Int
  ) throws -> RenewalOutcome {
    // A renewal proves the signing key and the secret of codes. Who has one of them can set back one count, not both.
    let failed = try query("SELECT failures FROM credentials WHERE id = ?", .text(id)).first
    guard try (failed?.integer("failures") ?? 0) < limit else { return .locked }
    switch try countSignature(of: id, isGood: successor != nil, limit: limit) {
    case nil: break
    case .notSigned:
      try execute("UPDATE credentials SET failures = failures + 1 WHERE id = ?", .text(id))
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
