import SignetSQL

extension Storage {
  /// Appends an event that goes with no other change.
  public func append(_ record: AuditRecord) async throws(StorageFailure) {
    try await write { try $0.appendAudit(record) }
  }

  /// Appends what was refused to somebody and goes with no other change, unless the log has enough of that hour.
  public func appendRefusal(
    _ record: AuditRecord, of requester: Requester, at time: Int64
  ) async throws(StorageFailure) {
    try await write { try $0.appendRefusal(record, of: requester, at: time) }
  }

  /// Who has proved who it is, and can be refused any number of times.
  public enum Requester: Hashable, Sendable {
    /// A container, by its id.
    case container(String)
    /// Who knows the invite of an activation, by the activation's id.
    case activation(String)

    fileprivate var row: (table: String, id: String) {
      switch self {
      case .container(let id): ("containers", id)
      case .activation(let id): ("activations", id)
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

  /// The newest entries of each chain, at most `limit` of one: the newest of a chain first, chains one after the other.
  public func lastAuditEntries(limit: Int) async throws(StorageFailure) -> [AuditEntry] {
    try await read { database in
      try database.auditChains().flatMap { chain in
        try database.rows(
          "SELECT \(AuditEntry.columns) FROM audit WHERE lane = $1 ORDER BY number DESC LIMIT $2",
          [.integer(chain), .int(limit)]
        ) { try AuditEntry($0) }
      }
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
  private static let auditTail = TransactionLocal<AuditChain>()

  /// Appends to the audit log inside the open transaction.
  func appendAudit(_ record: AuditRecord) throws {
    var chain = try local(Self.auditTail) {
      try lastAuditEntry(of: lane).map { AuditChain(after: $0) } ?? AuditChain(lane)
    }
    let entry = chain.append(try record.text(calling: subject(of:)))
    try execute(
      "INSERT INTO audit (lane, number, event, hash) VALUES ($1, $2, $3, $4)",
      [.integer(entry.chain), .integer(entry.number), .text(entry.text), .blob(entry.hash)], changing: 1)
    setLocal(Self.auditTail, to: chain)
    if let event = record.event.published { try publish(event, at: record.time) }
  }

  /// The entries of the audit log that a container, or the holder of an invite, can have written within an hour by what is refused.
  static let refusalLimit: Int64 = 60
  private static let refusalWindow: Int64 = 3_600

  /// Appends what was refused to somebody, unless the log has enough of that hour: a device cannot fill it.
  func appendRefusal(_ record: AuditRecord, of requester: Storage.Requester, at time: Int64) throws {
    let row = requester.row
    let isNewHour = "(refusals_since <= $2 - \(Self.refusalWindow) OR refusals_since > $2)"
    let counted = try execute(
      """
      UPDATE \(row.table) SET refusals = CASE WHEN \(isNewHour) THEN 1 ELSE refusals + 1 END,
        refusals_since = CASE WHEN \(isNewHour) THEN $2 ELSE refusals_since END
      WHERE id = $1 AND (refusals < \(Self.refusalLimit) OR \(isNewHour))
      """, [.text(row.id), .integer(time)])
    if counted == 1 { try appendAudit(record) }
  }

  /// The chains that have entries.
  fileprivate func auditChains() throws -> [Int64] {
    var chains: [Int64] = []
    // A jump from chain to chain by the key, in place of a look at all entries.
    while let next = try row(
      "SELECT lane FROM audit WHERE lane > $1 ORDER BY lane LIMIT 1", [.integer(chains.last ?? -1)],
      { try $0.integer(0) })
    {
      chains.append(next)
    }
    return chains
  }

  fileprivate func lastAuditEntry(of chain: Int64) throws -> AuditEntry? {
    try row(
      "SELECT \(AuditEntry.columns) FROM audit WHERE lane = $1 ORDER BY number DESC LIMIT 1",
      [.integer(chain)]
    ) { try AuditEntry($0) }
  }
}

extension AuditEntry {
  static let columns = "lane, number, event, hash"

  init(_ row: SQLRow) throws {
    self.init(
      chain: try row.integer(0), number: try row.integer(1), text: try row.text(2), hash: try row.blob(3))
  }
}
