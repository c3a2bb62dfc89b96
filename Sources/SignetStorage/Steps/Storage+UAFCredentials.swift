import SignetSQL

extension Storage {
  /// Returns a user's keys in any state, oldest first.
  package func uafCredentials(user: UserID) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await read { try $0.uafCredentials(of: user) }
  }

  /// Returns the key with this model and key id in any state; `nil` for none.
  package func uafCredential(
    aaid: String, keyID: [UInt8]
  ) async throws(StorageFailure) -> UAFCredentialRecord? {
    try await read { try $0.uafCredential(aaid, keyID) }
  }

  /// Returns all keys, oldest first, at most `limit`.
  package func uafCredentials(limit: Int) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await read { try $0.records("ORDER BY number LIMIT $1", [.int(max(0, limit))]) }
  }

  /// Removes keys of a user; revoked keys are kept.
  ///
  /// - Parameters:
  ///   - user: The user.
  ///   - selection: The keys; each selection may match several.
  ///   - audit: Makes the event of each removed key, from its model and key id.
  /// - Returns: The number of removed keys.
  /// - Throws: ``StorageFailure``.
  package func removeUAFCredentials(
    of user: UserID, _ selection: [UAFKeySelection],
    audit: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> Int {
    try await write { try $0.removeUAFCredentials(of: user, selection, audit: audit) }
  }

  /// Returns the locked devices from which a caller acts; `nil` if the caller's authentication is no longer valid.
  package func lockedDevices(of basis: UAFBasis) async throws(StorageFailure) -> Set<String>? {
    try await read { try $0.lockedDevices(of: basis) }
  }

  /// Releases a key from quarantine; its counter does not change.
  ///
  /// - Returns: `true` if it was in quarantine.
  package func releaseUAFCredential(
    aaid: String, keyID: [UInt8], audit: AuditRecord
  ) async throws(StorageFailure) -> Bool {
    return try await write { database in
      guard let released = try database.uafCredential(aaid, keyID)?.released else { return false }
      try database.update(released)
      try database.appendAudit(audit)
      return true
    }
  }
}

extension SQLConnection {
  /// Removes keys of a user, except revoked ones, and returns their number.
  func removeUAFCredentials(
    of user: UserID, _ selection: [UAFKeySelection], audit: (String, [UInt8]) -> AuditRecord
  ) throws -> Int {
    let mac = try rowMAC
    var events: [AuditRecord] = []
    for selected in selection {
      let removed = try rows(
        """
        DELETE FROM uaf_credentials WHERE user_id = $1 AND (aaid = $2 OR $2 IS NULL)
          AND ((key_id = $3 AND $2 IS NOT NULL) OR $3 IS NULL) AND state <> 'revoked'
        RETURNING \(UAFCredentialRecord.columns)
        """, [.of(user), .optional(selected.aaid), .optional(selected.keyID)]
      ) { try UAFCredentialRecord($0, mac) }
      for key in removed {
        let event = audit(key.aaid, key.keyID)
        try appendAudit(event, on: deviceID(of: key))
        events.append(event)
      }
    }
    if let last = events.last { try endUnanswerable(of: user, after: last, at: last.time) }
    return events.count
  }

  /// Returns `true` if the keys of an operation are the user's, active, and on devices that are not locked.
  func areKeysInUse(of session: UAFOperationRecord, by user: UserID) throws -> Bool {
    guard let keys = UAFCredentialRecord.inUse(try usedKeys(of: session), by: user) else { return false }
    return try keys.allSatisfy { key in
      key.isUsable(on: try key.device.flatMap { try device($0, of: user) })
    }
  }

  /// Returns the present records of an operation's keys; `nil` for each that no longer exists.
  private func usedKeys(of session: UAFOperationRecord) throws -> [UAFCredentialRecord?] {
    try (session.end?.usedKeys ?? []).map { try uafCredential($0.aaid, $0.keyID) }
  }

  /// Returns the user and the devices of a caller; `nil` if the caller's authentication is no longer valid.
  private func caller(of basis: UAFBasis) throws -> UAFCallerIdentity? {
    switch basis {
    case .operation(let id, let owner, let suffices):
      guard let session = try uafOperation(id), session.hasAuthenticated(owner) else { return nil }
      return UAFCallerIdentity(
        by: session, of: owner, try userState(owner), try usedKeys(of: session), suffices: suffices)
    case .target(let id): return try uafTarget(id).map(UAFCallerIdentity.init)
    }
  }

  /// Returns the locked devices from which a caller acts; `nil` if the caller's authentication is no longer valid.
  fileprivate func lockedDevices(of basis: UAFBasis) throws -> Set<String>? {
    guard let caller = try caller(of: basis) else { return nil }
    return Set(try caller.devices.filter { try isLocked($0, of: caller.user) })
  }

  /// Returns the reach of a UAF caller; without a basis the caller is of another kind, whose authorization is checked elsewhere.
  func reach(of basis: UAFBasis?) throws -> UAFCallerReach {
    try basis.map { UAFCallerReach(lockedDevices: try lockedDevices(of: $0)) } ?? .everything
  }

  /// Checks that a UAF caller may add something.
  ///
  /// - Parameter basis: The caller's authentication; `nil` passes.
  /// - Throws: ``StorageFailure/unauthorized``, ``StorageFailure/deviceLocked``, ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func requireUsable(basis: UAFBasis?) throws {
    if let refusal = try reach(of: basis).refusalToAdd { throw refusal }
  }

  /// Returns a user's keys in any state, oldest first.
  func uafCredentials(of user: UserID) throws -> [UAFCredentialRecord] {
    try records("WHERE user_id = $1 ORDER BY number", [.of(user)])
  }

  func uafCredential(_ aaid: String, _ keyID: [UInt8]) throws -> UAFCredentialRecord? {
    try record("WHERE aaid = $1 AND key_id = $2", [.text(aaid), .blob(keyID)])
  }

  /// Returns the key that a selection names; `nil` for none, and for a selection that can match several.
  func uafCredential(named selection: UAFKeySelection) throws -> UAFCredentialRecord? {
    guard let aaid = selection.aaid, let keyID = selection.keyID else { return nil }
    return try uafCredential(aaid, keyID)
  }

  /// Writes the columns of a key that can change, and the MAC of the row.
  func update(_ credential: UAFCredentialRecord) throws {
    try execute(
      """
      UPDATE uaf_credentials SET sign_counter = $1, state = $2, code = $3, last_used = $4 WHERE aaid = $5 AND key_id = $6
      """,
      [
        .integer(Int64(credential.signCounter)), .text(credential.state.rawValue),
        .optional(rowMAC.mac(of: credential.image)), .optional(credential.lastUsed), .text(credential.aaid),
        .blob(credential.keyID),
      ], changing: 1)
  }

  /// Revokes the keys of a user on a device, and returns those that were not revoked before.
  func revokeUAFCredentials(
    on device: String, of user: UserID
  ) throws -> [UAFCredentialRecord] {
    let found: [UAFCredentialRecord] = try records(
      "WHERE user_id = $1 AND device = $2 ORDER BY number", [.of(user), .text(device)])
    let revoked = found.compactMap(\.revoked)
    for key in revoked { try update(key) }
    return revoked
  }
}

extension KeyHolder {
  /// Makes the key holder of a UAF key.
  init(_ key: UAFCredentialRecord) {
    self.init(kind: .uaf, authenticator: key.authenticator, user: key.user)
  }
}
