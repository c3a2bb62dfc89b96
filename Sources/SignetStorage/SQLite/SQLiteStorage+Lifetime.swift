import SignetSQLite

extension SQLiteStorage {
  /// As ``Storage`` says.
  public func askForRenewal(_ id: String, audit: AuditEvent) async throws(StorageFailure) -> Bool {
    try await writer.write { database in
      try database.execute(
        "UPDATE containers SET renewal_wanted = 1 WHERE id = ? AND state = 'active'", .text(id))
      guard database.changes == 1 else { return false }
      try database.appendAudit(audit)
      return true
    }
  }

  /// As ``Storage`` says.
  public func stageRenewal(
    of id: String, by successor: ContainerRecord?, limit: Int,
    audit: @escaping @Sendable (RenewalOutcome) -> AuditEvent
  ) async throws(StorageFailure) -> RenewalOutcome {
    try await writer.write { database in
      let outcome = try database.stageRenewal(of: id, by: successor, limit: limit)
      try database.appendAudit(audit(outcome))
      return outcome
    }
  }

  /// As ``Storage`` says.
  public func endContainer(
    _ id: String, as ended: String, audit: AuditEvent
  ) async throws(StorageFailure) -> EndOutcome {
    try await writer.write { database in
      try database.execute(
        "UPDATE containers SET ended = ?, state = 'revoked' WHERE id = ? AND ended IS NULL", .text(ended),
        .text(id))
      if database.changes == 1 {
        try database.appendAudit(audit)
        return .ended
      }
      let found = try database.query("SELECT 1 FROM containers WHERE id = ?", .text(id))
      return found.isEmpty ? .unknown : .repeated
    }
  }
}

extension Database {
  fileprivate func stageRenewal(
    of id: String, by successor: ContainerRecord?, limit: Int
  ) throws -> RenewalOutcome {
    switch try countSignature(of: id, isGood: successor != nil, limit: limit) {
    case nil: break
    case .notSigned: return .notSigned
    case .locked: return .locked
    default: return .gone
    }
    guard let successor else { return .notSigned }
    // A lost answer makes the device begin anew: what it never heard of is good for nothing.
    try execute("DELETE FROM containers WHERE renews = ? AND state = 'pending'", .text(id))
    try insert(successor)
    return .staged
  }
}
