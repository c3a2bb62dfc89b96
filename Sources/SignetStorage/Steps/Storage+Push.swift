import SignetSQL

extension Storage {
  /// Adds a target to an active container, unless it has `limit` of them.
  ///
  /// - Returns: `true` if it was added.
  /// - Throws: ``StorageFailure``: ``StorageFailure/userNotActive(_:)``, ``StorageFailure/containerNotInUse``,
  ///   ``StorageFailure/containerLocked``.
  package func addPushTarget(
    _ target: PushTargetRecord, limit: Int, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard let container = try database.requireUsable(container: target.container) else {
        throw StorageFailure.containerNotInUse
      }
      let count = try database.number(
        "SELECT count(*) FROM push_targets WHERE container = $1", [.of(target.container)])
      guard container.hasRoomForTarget(beside: count ?? 0, limit: limit) else { return false }
      try database.insert(target)
      try database.appendRepeatable(audit, of: .container(target.container))
      return true
    }
  }

  /// Returns a container's targets, oldest first.
  package func pushTargets(container: ContainerID) async throws(StorageFailure) -> [PushTargetRecord] {
    try await read { database in
      try database.rows(
        "SELECT \(PushTargetRecord.columns) FROM push_targets WHERE container = $1 ORDER BY created, id",
        [.of(container)]
      ) { try PushTargetRecord($0) }
    }
  }

  /// Returns the targets of a user's active containers, oldest first.
  package func pushTargets(user: UserID) async throws(StorageFailure) -> [PushTargetRecord] {
    try await read { database in
      try database.rows(
        """
        SELECT push_targets.* FROM push_targets JOIN containers ON containers.id = push_targets.container
        WHERE containers.user_id = $1 AND containers.state = 'active' ORDER BY push_targets.created, push_targets.id
        """, [.of(user)]
      ) { try PushTargetRecord($0) }
    }
  }

  /// Changes the name, the address, or both, of a target of an active container.
  ///
  /// - Returns: `true` if there is such a target.
  /// - Throws: The errors of ``addPushTarget(_:limit:audit:)``.
  package func changePushTarget(
    _ id: PushTargetID, of container: ContainerID, name: String?, target: (service: String, sealed: [UInt8])?,
    audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard try database.requireUsable(container: container) != nil else {
        throw StorageFailure.containerNotInUse
      }
      guard
        try database.execute(
          """
          UPDATE push_targets SET name = coalesce($3, name), service = coalesce($4, service),
            sealed_target = coalesce($5, sealed_target)
          WHERE id = $1 AND container = $2
          """,
          [
            .of(id), .of(container), .optional(name), .optional(target?.service),
            .optional(target?.sealed),
          ]) == 1
      else { return false }
      try database.appendRepeatable(audit, of: .container(container))
      return true
    }
  }

  /// Removes a container's target.
  ///
  /// A removal grants nothing, so locks of the container, its device or its user do not prevent it.
  /// ``claimRequest(_:of:in:expires:isGranting:)`` rejects the request of a container that is not active before this step.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - container: The container.
  ///   - sealed: The encrypted address that the target must still have; `nil` for any.
  ///   - audit: The event, written if the target is removed.
  /// - Returns: `true` if it was removed.
  /// - Throws: ``StorageFailure``.
  package func removePushTarget(
    _ id: PushTargetID, of container: ContainerID, ifSealed sealed: [UInt8]?, audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    try await write { database in
      guard
        try database.execute(
          "DELETE FROM push_targets WHERE id = $1 AND container = $2 AND (sealed_target = $3 OR $3 IS NULL)",
          [.of(id), .of(container), .optional(sealed)]) == 1
      else { return false }
      try database.appendRepeatable(audit, of: .container(container))
      return true
    }
  }
}
