import SignetSQL

extension Storage {
  /// Appends an event that belongs to no other change.
  package func append(_ record: AuditRecord) async throws(StorageFailure) {
    try await write { try $0.appendAudit(record) }
  }

  /// Appends an event that a requester can repeat without limit, unless the requester's entries of this hour have reached the limit.
  package func appendRepeatable(
    _ record: AuditRecord, of requester: Requester
  ) async throws(StorageFailure) {
    try await write { try $0.appendRepeatable(record, of: requester) }
  }

  /// A requester whose repeatable events are counted together.
  package enum Requester: Hashable, Sendable {
    /// A container, by its id.
    case container(ContainerID)
    /// A caller that knows the invite of an activation, by the activation's id.
    case activation(ID<ActivationRecord>)
    /// An authenticator app, by its mechanism.
    case app(ID<PushAuthMechanismRecord>)
    /// The devices of a user that are UAF targets: each may add others.
    case targets(user: UserID)
    /// An end user who claims to be this user to a relying party.
    case claimant(user: UserID)
    /// An end user who claims an unknown user id to a relying party, by its API key.
    case stranger(key: ID<APIKeyRecord>?)

    /// The key of its row.
    var name: String {
      switch self {
      case .container(let id): "container:\(id)"
      case .activation(let id): "activation:\(id)"
      case .app(let id): "app:\(id)"
      case .targets(let user): "targets:\(user)"
      case .claimant(let user): "claimant:\(user)"
      case .stranger(let key): "stranger:\(key?.text ?? "")"
      }
    }
  }

  /// Returns entries after a position, at most `limit`: those of one chain in order, chains one after the other.
  ///
  /// The position after the last returned entry gives the next page.
  package func auditEntries(after cursor: LogCursor, limit: Int) async throws(StorageFailure) -> [AuditEntry]
  {
    try await read { database in
      var entries: [AuditEntry] = []
      for chain in try database.auditChains() {
        let rest = limit - entries.count
        guard rest > 0 else { break }
        entries += try database.rows(
          "SELECT \(AuditEntry.columns) FROM audit WHERE lane = $1 AND number > $2 ORDER BY number LIMIT $3",
          [.integer(chain), .integer(cursor[chain]), .int(rest)]
        ) { try AuditEntry($0) }
      }
      return entries
    }
  }

  /// Returns the entries of a stretch of the log that name a user, or name none.
  ///
  /// - Parameters:
  ///   - subject: The subject of the user.
  ///   - stretch: The following stretch, which has newer entries; `nil` for the newest.
  ///   - limit: The number of entries of each chain that are searched.
  /// - Returns: The stretch.
  /// - Throws: ``StorageFailure``.
  package func auditStretch(
    about subject: String, before stretch: AuditStretch?, limit: Int
  ) async throws(StorageFailure) -> AuditStretch {
    try await read { database in
      var found = AuditStretch()
      let starts: [(chain: Int64, newest: Int64)] =
        try stretch?.unread.map { (chain: $0.chain, newest: $0.number) }
        ?? database.auditChains().map { (chain: $0, newest: Int64.max) }
      for (chain, newest) in starts {
        // LIMIT counts rows, not numbers: numbers may have gaps, or may have been altered.
        // LIKE may match too much ("_" in a subject is a wildcard); the caller parses the JSON.
        found.entries += try database.rows(
          """
          SELECT \(AuditEntry.columns) FROM (
            SELECT \(AuditEntry.columns) FROM audit WHERE lane = $1 AND number <= $2 ORDER BY number DESC LIMIT $3
          ) AS stretch
          WHERE event LIKE $4 OR event NOT LIKE '%"user":"%'
          ORDER BY number DESC
          """, [.integer(chain), .integer(newest), .int(limit), .text("%\"user\":\"\(subject)\"%")]
        ) { try AuditEntry($0) }
        found.unread += try database.rows(
          """
          SELECT \(AuditEntry.columns) FROM audit WHERE lane = $1 AND number <= $2
          ORDER BY number DESC LIMIT 1 OFFSET $3
          """, [.integer(chain), .integer(newest), .int(limit)]
        ) { try AuditEntry($0) }
      }
      return found
    }
  }

  /// Returns those of some transactions that belong to a user.
  ///
  /// - Parameters:
  ///   - ids: Their ids, 1 to 100.
  ///   - user: The user.
  /// - Returns: The ids of the user's transactions.
  /// - Throws: ``StorageFailure``.
  package func transactions(
    _ ids: [TransactionID], of user: UserID
  ) async throws(StorageFailure) -> Set<TransactionID> {
    try await read { database in
      let placeholders = ids.indices.map { "$\($0 + 2)" }.joined(separator: ", ")
      let found = try database.rows(
        "SELECT id FROM transactions WHERE user_id = $1 AND id IN (\(placeholders))",
        [.of(user)] + ids.map { .of($0) }
      ) { row -> TransactionID in try row.id(0) }
      return Set(found)
    }
  }

  /// Verifies each hash chain from the first entry to the last, or to the first entry that does not fit.
  ///
  /// - Parameter expectedHeads: See ``AuditVerification/init(expectedHeads:)``.
  /// - Returns: The report.
  /// - Throws: ``StorageFailure`` if the log cannot be read at all.
  package func verifyAudit(expectedHeads: [[UInt8]] = []) async throws(StorageFailure) -> AuditReport {
    var verification = AuditVerification(expectedHeads: expectedHeads)
    var cursor = LogCursor()
    while true {
      let entries = try await auditEntries(after: cursor, limit: 1_000)
      if entries.isEmpty { return verification.report }
      for entry in entries { verification.verify(entry) }
      cursor = cursor.advanced(past: entries)
    }
  }
}

extension SQLConnection {
  private static let auditTail = TransactionLocal<AuditChain>(isRetained: true)

  /// Appends an event to the audit log inside the open transaction.
  ///
  /// - Parameters:
  ///   - record: The event.
  ///   - end: The time until which similar events are left out; `nil` for none.
  ///   - device: The id of the device, if the step cannot derive it from the rows that the event names; `nil` to look it up.
  /// - Throws: ``SQLFailure``.
  func appendAudit(
    _ record: AuditRecord, silentUntil end: Int64? = nil, on device: ID<DeviceRecord>? = nil
  ) throws {
    let definition = record.event.definition
    let device = try device ?? self.device(of: definition.device, by: record.by)
    var chain = try local(Self.auditTail) { try auditTail(of: lane) ?? AuditChain(lane) }
    _ = try number(after: chain.number, in: "audit")
    let entry = chain.append(try record.text(silentUntil: end, on: device, calling: subject(of:)))
    try execute(
      "INSERT INTO audit (lane, number, event, hash) VALUES ($1, $2, $3, $4)",
      [.integer(entry.chain), .integer(entry.number), .text(entry.text), .blob(entry.hash)], changing: 1)
    setLocal(Self.auditTail, to: chain)
    if let event = definition.published { try publish(event, at: record.time) }
  }

  /// The maximum number of repeatable entries of one requester in one hour.
  private static let repeatableLimit: Int64 = 60
  static let repeatableWindow: Int64 = 3_600

  /// Appends an event that a requester can repeat without limit, unless the hour's limit is reached, so that no attacker can
  /// fill the log.
  ///
  /// It is not for events that an investigation needs each time. The last entry states the time until which further events
  /// are left out; nothing is written for these.
  func appendRepeatable(_ record: AuditRecord, of requester: Storage.Requester) throws {
    let isNewHour =
      "(audit_counts.since <= excluded.since - \(Self.repeatableWindow) OR audit_counts.since > excluded.since)"
    let counted = try row(
      """
      INSERT INTO audit_counts (requester, entries, since) VALUES ($1, 1, $2)
      ON CONFLICT (requester) DO UPDATE
        SET entries = CASE WHEN \(isNewHour) THEN 1 ELSE audit_counts.entries + 1 END,
          since = CASE WHEN \(isNewHour) THEN excluded.since ELSE audit_counts.since END
        WHERE audit_counts.entries < \(Self.repeatableLimit) OR \(isNewHour)
      RETURNING entries, since
      """, [.text(requester.name), .integer(record.time)]
    ) { (entries: try $0.integer(0), since: try $0.integer(1)) }
    guard let counted else {
      if let event = record.event.published { try publish(event, at: record.time) }
      return
    }
    let isLast = counted.entries == Self.repeatableLimit
    try appendAudit(record, silentUntil: isLast ? counted.since + Self.repeatableWindow : nil)
  }

  /// Appends an event by the rule for its outcome; `nil` makes no event.
  func appendAudit(_ record: @autoclosure () -> AuditRecord, as entry: OutcomeEntry?) throws {
    switch entry {
    case nil: break
    case .always: try appendAudit(record())
    case .limited(let requester): try appendRepeatable(record(), of: requester)
    }
  }

  /// Returns the numbers of the chains that have entries.
  fileprivate func auditChains() throws -> [Int64] { try lanes(of: "audit") }

  /// Returns a chain at its last entry, whose text is not needed to append; `nil` for a chain without entries.
  private func auditTail(of chain: Int64) throws -> AuditChain? {
    try row(
      "SELECT number, hash FROM audit WHERE lane = $1 ORDER BY number DESC LIMIT 1", [.integer(chain)]
    ) { AuditChain(chain, number: try $0.integer(0), hash: try $0.blob(1)) }
  }
}

extension AuditEntry {
  static let columns = "lane, number, event, hash"

  init(_ row: SQLRow) throws {
    self.init(
      chain: try row.integer(0), number: try row.integer(1), text: try row.text(2), hash: try row.blob(3))
  }
}
