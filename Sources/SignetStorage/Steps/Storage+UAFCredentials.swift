import SignetSQL

extension Storage {
  /// A user's keys in any state, oldest first.
  public func uafCredentials(user: UserID) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await read { try $0.uafCredentials(of: user) }
  }

  /// The key of this name in any state; `nil` for none.
  public func uafCredential(
    aaid: String, keyID: [UInt8]
  ) async throws(StorageFailure) -> UAFCredentialRecord? {
    try await read { try $0.uafCredential(aaid, keyID) }
  }

  /// All keys, oldest first, at most `limit`.
  public func uafCredentials(limit: Int) async throws(StorageFailure) -> [UAFCredentialRecord] {
    try await read { [mac] database in
      try database.rows(
        "SELECT \(UAFCredentialRecord.columns) FROM uaf_credentials ORDER BY number LIMIT $1",
        [.int(max(0, limit))]
      ) { try UAFCredentialRecord($0, mac) }
    }
  }

  /// Removes keys of a user; those that are revoked stay.
  ///
  /// - Parameters:
  ///   - user: Whose.
  ///   - selection: Which; each may name many.
  ///   - audit: Makes the event of each one that was removed, of its model and its name.
  /// - Returns: How many there were.
  /// - Throws: ``StorageFailure``.
  public func removeUAFCredentials(
    of user: UserID, _ selection: [UAFKeySelection],
    audit: @escaping @Sendable (String, [UInt8]) -> AuditRecord
  ) async throws(StorageFailure) -> Int {
    try await write { try $0.removeUAFCredentials(of: user, selection, audit: audit) }
  }

  /// The locked devices that a caller acts from; `nil` where what it is known by holds no more.
  public func lockedDevices(of basis: UAFBasis) async throws(StorageFailure) -> Set<String>? {
    try await read { try $0.lockedDevices(of: basis) }
  }

  /// Takes a key out of quarantine; its counter stays.
  ///
  /// - Returns: Whether it was there.
  public func releaseUAFCredential(
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
  /// Removes keys of a user, but for those that are revoked; how many there were.
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

  /// Whether the keys that an operation was done with are a user's, active, and on devices that are not locked.
  func areKeysInUse(of session: UAFOperationRecord, by user: UserID) throws -> Bool {
    guard let keys = UAFCredentialRecord.inUse(try usedKeys(of: session), by: user) else { return false }
    return try keys.allSatisfy { key in
      key.isUsable(on: try key.device.flatMap { try device($0, of: user) })
    }
  }

  /// The keys that an operation was done with, as they are now; `nil` for each that is not there.
  private func usedKeys(of session: UAFOperationRecord) throws -> [UAFCredentialRecord?] {
    try (session.end?.usedKeys ?? []).map { try uafCredential($0.aaid, $0.keyID) }
  }

  /// Where a caller acts from; `nil` where what it is known by holds no more.
  private func place(of basis: UAFBasis) throws -> UAFCallerPlace? {
    switch basis {
    case .operation(let id, let owner, let suffices):
      guard let session = try uafOperation(id), session.hasAuthenticated(owner) else { return nil }
      return UAFCallerPlace(
        by: session, of: owner, try userState(owner), try usedKeys(of: session), suffices: suffices)
    case .target(let id): return try uafTarget(id).map(UAFCallerPlace.init)
    }
  }

  /// The locked devices that a caller acts from; `nil` where what it is known by holds no more.
  fileprivate func lockedDevices(of basis: UAFBasis) throws -> Set<String>? {
    guard let place = try place(of: basis) else { return nil }
    return Set(try place.devices.filter { try isLocked($0, of: place.user) })
  }

  /// What a caller of UAF may do by what it is known by; without that another caller asks, who is judged elsewhere.
  func reach(of basis: UAFBasis?) throws -> UAFCallerReach {
    try basis.map { UAFCallerReach(lockedDevices: try lockedDevices(of: $0)) } ?? .everything
  }

  /// The gate of what is added by a caller of UAF.
  ///
  /// - Parameter basis: What it is known by; `nil` passes.
  /// - Throws: ``StorageFailure/unauthorized``, ``StorageFailure/deviceLocked``, ``StorageFailure/altered(row:of:)``, ``SQLFailure``.
  func requireUsable(basis: UAFBasis?) throws {
    if let refusal = try reach(of: basis).refusalToAdd { throw refusal }
  }

  /// A user's keys in any state, oldest first.
  func uafCredentials(of user: UserID) throws -> [UAFCredentialRecord] {
    let mac = try rowMAC
    return try rows(
      "SELECT \(UAFCredentialRecord.columns) FROM uaf_credentials WHERE user_id = $1 ORDER BY number",
      [.of(user)]
    ) { try UAFCredentialRecord($0, mac) }
  }

  func uafCredential(_ aaid: String, _ keyID: [UInt8]) throws -> UAFCredentialRecord? {
    let mac = try rowMAC
    return try row(
      "SELECT \(UAFCredentialRecord.columns) FROM uaf_credentials WHERE aaid = $1 AND key_id = $2",
      [.text(aaid), .blob(keyID)]
    ) { try UAFCredentialRecord($0, mac) }
  }

  /// The key that a selection names; `nil` for none, and where it can name several.
  func uafCredential(named selection: UAFKeySelection) throws -> UAFCredentialRecord? {
    guard let aaid = selection.aaid, let keyID = selection.keyID else { return nil }
    return try uafCredential(aaid, keyID)
  }

  /// Writes what changes of a key, with the code of the whole.
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

  /// Revokes the keys of a user on a device, and returns those that were not before.
  func revokeUAFCredentials(
    on device: String, of user: UserID
  ) throws -> [UAFCredentialRecord] {
    let mac = try rowMAC
    let found = try rows(
      "SELECT \(UAFCredentialRecord.columns) FROM uaf_credentials WHERE user_id = $1 AND device = $2 ORDER BY number",
      [.of(user), .text(device)]
    ) { try UAFCredentialRecord($0, mac) }
    let revoked = found.compactMap(\.revoked)
    for key in revoked { try update(key) }
    return revoked
  }
}

extension KeyHolder {
  /// A key of UAF.
  init(_ key: UAFCredentialRecord) {
    self.init(kind: .uaf, authenticator: key.authenticator, user: key.user)
  }
}
