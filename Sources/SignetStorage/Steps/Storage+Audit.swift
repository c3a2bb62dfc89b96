import SignetSQL

extension Storage {
  /// Appends an event that goes with no other change.
  public func append(_ record: AuditRecord) async throws(StorageFailure) {
    try await write { try $0.appendAudit(record) }
  }

  /// Appends what somebody can repeat without end and goes with no other change, unless the log has enough of that hour.
  public func appendRepeatable(
    _ record: AuditRecord, of requester: Requester
  ) async throws(StorageFailure) {
    try await write { try $0.appendRepeatable(record, of: requester) }
  }

  /// Who can do something, or be refused, any number of times: what is counted together.
  public enum Requester: Hashable, Sendable {
    /// A container, by its id.
    case container(ContainerID)
    /// Who knows the invite of an activation, by the activation's id.
    case activation(ID<ActivationRecord>)
    /// An authenticator app, by its mechanism.
    case app(ID<PushAuthMechanismRecord>)
    /// The devices of a user that are targets of UAF: each may add others.
    case targets(user: UserID)
    /// Whoever says to a relying party that it is this user.
    case claimant(user: UserID)
    /// Whoever says to a relying party, by its API key, that it is a user that there is not.
    case stranger(key: ID<APIKeyRecord>?)

    /// The name of its row.
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

  /// Entries after a position, at most `limit`: those of one chain in order, chains one after the other.
  ///
  /// The position after the last entry of the answer leads to the next ones.
  public func auditEntries(after cursor: LogCursor, limit: Int) async throws(StorageFailure) -> [AuditEntry] {
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

  /// The entries of a stretch of the log that name a user, or name none.
  ///
  /// - Parameters:
  ///   - subject: What the log calls the user.
  ///   - stretch: The stretch after it, which has newer entries; `nil` for the newest.
  ///   - limit: How many entries of each chain are looked at.
  /// - Returns: The stretch.
  /// - Throws: ``StorageFailure``.
  public func auditStretch(
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

  /// Which of some transactions are a user's.
  ///
  /// - Parameters:
  ///   - ids: Their ids, 1 to 100.
  ///   - user: The user.
  /// - Returns: The ids of the user's.
  /// - Throws: ``StorageFailure``.
  package func transactions(
    _ ids: [TransactionID], of user: UserID
  ) async throws(StorageFailure) -> Set<TransactionID> {
    try await read { database in
      let places = ids.indices.map { "$\($0 + 2)" }.joined(separator: ", ")
      let found = try database.rows(
        "SELECT id FROM transactions WHERE user_id = $1 AND id IN (\(places))",
        [.of(user)] + ids.map { .of($0) }
      ) { row -> TransactionID in try row.id(0) }
      return Set(found)
    }
  }

  /// Follows each hash chain from the first entry to the last, or to the first that does not fit.
  ///
  /// - Parameter keptHeads: As ``AuditVerification/init(keptHeads:)`` says.
  /// - Returns: What was found.
  /// - Throws: ``StorageFailure`` where the log can't be read at all.
  public func verifyAudit(keptHeads: [[UInt8]] = []) async throws(StorageFailure) -> AuditReport {
    var verification = AuditVerification(keptHeads: keptHeads)
    var cursor = LogCursor()
    while true {
      let entries = try await auditEntries(after: cursor, limit: 1_000)
      if entries.isEmpty { return verification.report }
      for entry in entries { verification.take(entry) }
      cursor = cursor.advanced(past: entries)
    }
  }
}

extension SQLConnection {
  private static let auditTail = TransactionLocal<AuditChain>(isKept: true)

  /// Appends to the audit log inside the open transaction.
  ///
  /// - Parameters:
  ///   - record: What happened.
  ///   - end: Until when what is like it is left out; `nil` where nothing is.
  ///   - device: The id of the device, where the step knows it better than the rows that the event names; `nil` to look it up.
  /// - Throws: ``SQLFailure``.
  func appendAudit(
    _ record: AuditRecord, silentUntil end: Int64? = nil, on device: ID<DeviceRecord>? = nil
  ) throws {
    let device = try device ?? self.device(of: record)
    var chain = try local(Self.auditTail) { try auditTail(of: lane) ?? AuditChain(lane) }
    _ = try number(after: chain.number, in: "audit")
    let entry = chain.append(try record.text(silentUntil: end, on: device, calling: subject(of:)))
    try execute(
      "INSERT INTO audit (lane, number, event, hash) VALUES ($1, $2, $3, $4)",
      [.integer(entry.chain), .integer(entry.number), .text(entry.text), .blob(entry.hash)], changing: 1)
    setLocal(Self.auditTail, to: chain)
    try publish(record)
  }

  private func publish(_ record: AuditRecord) throws {
    if let event = record.event.published { try publish(event, at: record.time) }
  }

  /// The entries that one requester can leave within an hour by what can be repeated without end.
  private static let repeatableLimit: Int64 = 60
  static let repeatableWindow: Int64 = 3_600

  /// Appends what somebody can repeat without end, unless the log has enough of that hour: nobody fills it.
  ///
  /// Not for what an investigation needs each time. The last entry says until when the others are left out; nothing is written for these.
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
    guard let counted else { return try publish(record) }
    let isLast = counted.entries == Self.repeatableLimit
    try appendAudit(record, silentUntil: isLast ? counted.since + Self.repeatableWindow : nil)
  }

  /// Appends an event as its outcome goes into the log; with `nil` it is not made.
  func appendAudit(_ record: @autoclosure () -> AuditRecord, as entry: OutcomeEntry?) throws {
    switch entry {
    case nil: break
    case .always: try appendAudit(record())
    case .limited(let requester): try appendRepeatable(record(), of: requester)
    }
  }

  /// The chains that have entries.
  fileprivate func auditChains() throws -> [Int64] { try lanes(of: "audit") }

  /// A chain up to its last entry, whose text nobody needs in order to go on; `nil` for one without entries.
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
