import SignetSQL

extension Storage {
  /// Ends a registration, whose response holds: adds its keys.
  ///
  /// An operation is taken once, before its time is over. A key that is registered already, of whomever, is not taken, and the
  /// operation has failed then; nor is one whose public key is another authenticator's, of whatever kind and state. One that was removed
  /// may be registered again for the same user.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - end: How it ends.
  ///   - credentials: The new keys, all of one user and on one device.
  ///   - limit: How many keys a user may have.
  ///   - audit: Makes the event.
  ///   - judge: Why the keys are not taken, by what is demanded at that moment; `nil` where they are.
  /// - Returns: How it ended.
  /// - Throws: ``StorageFailure``.
  public func finishUAFRegistration(
    _ id: String, _ end: UAFSessionEnd, adding credentials: [NewUAFCredential], limit: Int,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord,
    judge: @escaping @Sendable () -> UAFOutcome? = { nil }
  ) async throws(StorageFailure) -> UAFOutcome {
    let codes = codes
    return try await write { database in
      let first = credentials.first?.credential
      if let first {
        try database.requireActive(known: first.user)
        try database.requireUnlocked(first.device, of: first.user, codes)
      }
      let outcome = try database.finishRegistration(id, end, credentials, limit, codes, judge)
      var device: DeviceRecord?
      if outcome == .taken, let first, let installation = first.device {
        let new = DeviceRecord(of: first.user, installation, at: first.created, codes)
        try database.bind(new, codes)
        device = new
      }
      try database.appendAudit(audit(outcome), on: device?.id)
      return outcome
    }
  }
}

extension SQLConnection {
  fileprivate func finishRegistration(
    _ id: String, _ end: UAFSessionEnd, _ credentials: [NewUAFCredential], _ limit: Int, _ codes: RowCodes,
    _ judge: () -> UAFOutcome?
  ) throws -> UAFOutcome {
    guard let session = try requestedUAFSession(id, at: end.time, codes) else { return .over }
    if let refusal = judge() { return try fail(session, end, refusal, codes) }
    let isTaken = try credentials.contains {
      try uafCredential($0.credential.aaid, $0.credential.keyID, codes) != nil
        || self.isTaken($0.digest, for: KeyHolder($0.credential))
    }
    guard !isTaken, Set(credentials.map(\.digest)).count == credentials.count else {
      return try fail(session, end, .keyExists, codes)
    }
    if let user = credentials.first?.credential.user {
      let present = try number(
        "SELECT count(*) FROM uaf_credentials WHERE user_id = $1 AND state <> 'revoked'", [.text(user)])
      guard Int(clamping: present ?? 0) + credentials.count <= limit else {
        return try fail(session, end, .tooMany, codes)
      }
    }
    for new in credentials {
      try insert(new.credential, codes)
      try register(new.digest, for: KeyHolder(new.credential))
    }
    try succeed(session, end, codes)
    return .taken
  }
}
