import SignetSQL

extension Storage {
  /// Adds a target to a container in use, unless it has `limit` of them.
  ///
  /// - Returns: Whether it was added.
  /// - Throws: ``StorageFailure``: ``StorageFailure/userNotActive(_:)``, ``StorageFailure/containerNotInUse``,
  ///   ``StorageFailure/containerLocked``.
  public func addPushTarget(
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

  /// A container's targets, oldest first.
  public func pushTargets(container: ContainerID) async throws(StorageFailure) -> [PushTargetRecord] {
    try await read { database in
      try database.rows(
        "SELECT \(PushTargetRecord.columns) FROM push_targets WHERE container = $1 ORDER BY created, id",
        [.of(container)]
      ) { try PushTargetRecord($0) }
    }
  }

  /// The targets of a user's containers in use, oldest first.
  public func pushTargets(user: UserID) async throws(StorageFailure) -> [PushTargetRecord] {
    try await read { database in
      try database.rows(
        """
        SELECT push_targets.* FROM push_targets JOIN containers ON containers.id = push_targets.container
        WHERE containers.user_id = $1 AND containers.state = 'active' ORDER BY push_targets.created, push_targets.id
        """, [.of(user)]
      ) { try PushTargetRecord($0) }
    }
  }

  /// Changes the name of a target of a container in use, what it is, or both.
  ///
  /// - Returns: Whether there is such a target.
  /// - Throws: As ``addPushTarget(_:limit:audit:)``.
  public func changePushTarget(
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
  /// That takes something away, so that no lock of the container, its device or its user stands in the way. A request of a container that
  /// is not in use does not get here: ``claimRequest(_:of:in:expires:isGranting:)`` refuses it.
  ///
  /// - Parameters:
  ///   - id: The target.
  ///   - container: Whose it is.
  ///   - sealed: What it has to be still; `nil` for whatever it is.
  ///   - audit: The event, written where it is removed.
  /// - Returns: Whether it was removed.
  /// - Throws: ``StorageFailure``.
  public func removePushTarget(
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
