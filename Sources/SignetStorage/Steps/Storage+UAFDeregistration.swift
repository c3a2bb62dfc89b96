import SignetSQL

extension Storage {
  /// Ends a deregistration whose request was sent, and removes the keys in the same step.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - user: The user of the operation and of the keys.
  ///   - end: The status and the time of the end.
  ///   - selection: The keys to remove; each element can match several keys or none.
  ///   - basis: The authentication of the UAF client that asks; `nil` for another caller. From a locked device, a client can
  ///     remove only keys of that device.
  ///   - audit: The event of the end.
  ///   - removed: Makes the event of each removed key, from its model and its id.
  /// - Returns: ``UAFOutcome/accepted``; or ``UAFOutcome/expired`` if the operation is not open or is another user's, and
  ///   nothing is removed.
  /// - Throws: ``StorageFailure``: ``StorageFailure/deviceLocked`` for keys elsewhere, ``StorageFailure/unauthorized`` if
  ///   `basis` is no longer valid.
  package func finishUAFDeregistration(
    _ id: ID<UAFOperationRecord>, of user: UserID, _ end: UAFOperationEnd,
    removing selection: [UAFKeySelection],
    by basis: UAFBasis? = nil, audit: AuditRecord,
    removed: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> UAFOutcome {
    return try await write { database in
      guard let session = try database.uafOperation(id), session.acceptsResponse(at: end.time),
        session.user == user
      else { return .expired }
      let reach = try database.reach(of: basis)
      let selected = try selection.map { (selection: $0, key: try database.uafCredential(named: $0)) }
      if let refusal = reach.refusalToRemove(selected) { throw refusal }
      _ = try database.removeUAFCredentials(of: user, selection, audit: removed)
      try database.update(session.ended(.succeeded, end))
      try database.appendAudit(audit)
      return .accepted
    }
  }
}
