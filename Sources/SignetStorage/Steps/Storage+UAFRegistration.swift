import SignetSQL

extension Storage {
  /// Ends a registration with a verified response: adds its keys, or fails the operation.
  ///
  /// An operation accepts one response, before it expires. The registration fails if one of the keys is registered for any
  /// user. It also fails if one of the public keys belongs to another authenticator, of any kind and state. A removed key
  /// can be registered again for the same user.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - end: The status and the time of a success.
  ///   - credentials: The new keys, all of one user and on one device.
  ///   - limit: The maximum number of keys of a user.
  ///   - audit: Makes the event.
  ///   - check: Checks the requirements within the step: the reason to reject the keys, `nil` to accept them. It may run
  ///     again if the step is retried.
  /// - Returns: The outcome.
  /// - Throws: ``StorageFailure``.
  package func finishUAFRegistration(
    _ id: ID<UAFOperationRecord>, _ end: UAFOperationEnd, adding credentials: [NewUAFCredential], limit: Int,
    audit: @escaping @Sendable (UAFOutcome) -> AuditRecord,
    check: @escaping @Sendable () -> UAFOutcome? = { nil }
  ) async throws(StorageFailure) -> UAFOutcome {
    let mac = mac
    return try await write { database in
      let first = credentials.first?.credential
      if let first {
        try database.requireUsable(knownUser: first.user)
        try database.requireUsable(device: first.device, of: first.user)
      }
      let outcome = try database.finishRegistration(id, end, credentials, limit, check)
      var device: DeviceRecord?
      if outcome == .accepted, let first, let installation = first.device {
        let new = DeviceRecord(of: first.user, installation, at: first.created, mac)
        try database.bind(new)
        device = new
      }
      try database.appendAudit(audit(outcome), on: device?.id)
      return outcome
    }
  }
}

extension SQLConnection {
  fileprivate func finishRegistration(
    _ id: ID<UAFOperationRecord>, _ end: UAFOperationEnd, _ credentials: [NewUAFCredential], _ limit: Int,
    _ check: () -> UAFOutcome?
  ) throws -> UAFOutcome {
    guard let session = try uafOperation(id), session.acceptsResponse(at: end.time) else {
      return .expired
    }
    func refuse(_ refusal: UAFOutcome) throws -> UAFOutcome {
      try update(session.failed(refusal, end))
      return refusal
    }
    if let refusal = check() { return try refuse(refusal) }
    let isTaken = try credentials.contains {
      try uafCredential($0.credential.aaid, $0.credential.keyID) != nil
        || registered($0.digest)?.isTaken(for: KeyHolder($0.credential)) ?? false
    }
    let present = try credentials.first.flatMap {
      try number(
        "SELECT count(*) FROM uaf_credentials WHERE user_id = $1 AND state <> 'revoked'",
        [.of($0.credential.user)])
    }
    let refusal = UAFRegistrationRule.refusal(
      of: credentials, isTaken: isTaken, beside: Int(clamping: present ?? 0), limit: limit)
    if let refusal { return try refuse(refusal) }
    for new in credentials {
      try insert(new.credential)
      try register(new.digest, for: KeyHolder(new.credential))
    }
    try update(session.ended(.succeeded, end))
    if session.isCounted, let user = session.user { try endRow(of: user) }
    return .accepted
  }
}
