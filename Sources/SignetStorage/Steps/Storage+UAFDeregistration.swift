import SignetSQL

extension Storage {
  /// Ends a deregistration, whose request is given out: removes its keys, in the same step.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: Whose keys go, and whose operation it has to be.
  ///   - end: How it ends.
  ///   - selection: Which keys go; each may name many, or none that there is.
  ///   - basis: What the user is known by, who takes nothing away elsewhere while that is on a locked device; `nil` where others ask.
  ///   - audit: The event of its end.
  ///   - removed: Makes the event of each key that went, of its model and its name.
  /// - Returns: ``UAFOutcome/taken``, or ``UAFOutcome/over``, where nothing is removed.
  /// - Throws: ``StorageFailure``; ``StorageFailure/deviceLocked`` and ``StorageFailure/unauthorized`` by `basis`.
  public func finishUAFDeregistration(
    _ id: String, of user: String, _ end: UAFSessionEnd, removing selection: [UAFKeySelection],
    by basis: UAFBasis? = nil, audit: AuditRecord,
    removed: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await write { database in
      guard let session = try database.requestedUAFSession(id, at: end.time, codes), session.user == user
      else {
        return .over
      }
      try database.confine(basis, codes) { devices in
        try selection.allSatisfy { selected in
          guard let aaid = selected.aaid, let keyID = selected.keyID else { return false }
          let key = try database.uafCredential(aaid, keyID, codes)
          return key?.device.map(devices.contains) ?? (key == nil)
        }
      }
      _ = try database.removeUAFCredentials(of: user, selection, audit: removed)
      try database.end(session, end, .succeeded, codes)
      try database.appendAudit(audit)
      return .taken
    }
  }
}
