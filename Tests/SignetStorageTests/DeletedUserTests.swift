import PostgreSQLFixture
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// The remains of a deleted user in the database, by its own catalog: new tables are checked too.
@Suite(.timeLimit(.minutes(10))) struct DeletedUserTests {
  /// An ID that occurs in no other word.
  private static let id = "wanda-7c3f"
  private static let event = AuditRecord.sample()

  private struct Column {
    let table: String
    let name: String
    let isBytes: Bool
  }

  private static func columns(_ connection: SQLConnection) throws -> [Column] {
    let query =
      switch connection.dialect {
      case .sqlite:
        """
        SELECT m.name, c.name, 'blob' FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
        WHERE m.type = 'table'
        """
      case .postgreSQL:
        """
        SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT)
        FROM information_schema.columns WHERE table_schema = current_schema()
        """
      }
    return try connection.rows(query) {
      Column(table: try $0.text(0), name: try $0.text(1), isBytes: try $0.text(2) == "bytea")
    }
  }

  /// The tables that have the ID in any column, and those that have a column for it.
  private static func tables(
    _ database: SQLDatabase
  ) async throws -> (holding: Set<String>, naming: Set<String>) {
    try await database.read { connection in
      var (holding, naming): (Set<String>, Set<String>) = ([], [])
      for column in try columns(connection) {
        if column.name == "user_id" { naming.insert(column.table) }
        let name = "\"\(column.name)\""
        let condition =
          switch connection.dialect {
          case .sqlite: "instr(CAST(\(name) AS BLOB), $1) > 0"
          case .postgreSQL:
            "position(CAST($1 AS BYTEA) IN \(column.isBytes ? name : "convert_to(CAST(\(name) AS TEXT), 'UTF8')")) > 0"
          }
        let found = try connection.row(
          "SELECT count(*) FROM \"\(column.table)\" WHERE \(condition)", [.blob(Array(id.utf8))]
        ) { try $0.integer(0) }
        if found != 0 { holding.insert(column.table) }
      }
      return (holding, naming)
    }.value
  }

  /// Adds a row to each table that names users.
  private static func fill(_ storage: Storage) async throws {
    let limits = TransactionLimits(pending: 1000, challenges: 1000)
    var user = UserRecord(id: "\(id)", subject: "~subject", created: 1)
    user.displayName = id
    try await storage.addUser(user, audit: event)
    for (activation, isUsed) in [("used", true), ("open", false)] {
      try await storage.addActivation(
        ActivationRecord(
          id: "\(activation)", user: "\(id)", sealedInviteKey: [1], salt: [2], memoryKiB: 1, passes: 1,
          lanes: 1,
          profile: [3], created: 1, expires: 5000), audit: event)
      guard isUsed else { continue }
      var container = ContainerRecord(
        id: "c", user: "\(id)", activation: "\(activation)", device: [4], name: "", platform: "",
        keystore: "software",
        sessionKey: [5], encryptionKey: [6], signingKey: [7], profile: [8], created: 3)
      container.keyOrigin = "software"
      let codes = CredentialRecord(
        id: "c", user: "\(id)", kind: .totp, algorithm: "SHA256", digits: 6, period: 30, sealedSecret: [9],
        created: 3)
      _ = try await storage.finishActivation(
        "\(activation)", container: NewContainer(container, codes), limit: 5, at: 4
      ) { _ in nil }
      #expect(
        try await storage.confirmContainer("c", at: 5, audit: { _ in event }, lost: { _ in event })
          == .activated)
    }
    let refused = try await storage.attemptCode(OTPSubject(user: "\(id)", client: [1])) { _ in
      OTPResult(.refused, wait: WaitRecord(failures: 1, until: 10, expires: 9000), audit: event)
    }.value
    #expect(refused == .refused)
    let token = CredentialRecord(
      id: "token", user: "\(id)", serial: "serial", kind: .totp, algorithm: "SHA256", digits: 6, period: 30,
      sealedSecret: [9], created: 3, state: .active)
    _ = try await storage.addTokens([token]) { _ in event }

    try await storage.addUAFOperation(
      UAFOperationRecord(
        id: "r", operation: "Reg", user: "\(id)", created: 3, expires: 5000, state: .requested), audit: event)
    let credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: [1], user: "\(id)", publicKey: [4], algorithm: 1, keyFormat: 0x100,
      signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 3)
    _ = try await storage.finishUAFRegistration(
      "r", UAFOperationEnd(status: 1200, time: 4), adding: [credential.new], limit: 4
    ) { _ in event }
    _ = try await storage.addUAFTarget(
      UAFTargetRecord(
        id: "d", user: "\(id)", device: nil, name: "Phone", dispatcher: nil, sealedTarget: nil,
        signatureKey: [4], encryptionKey: nil, created: 3), limit: 4, audit: event)
    try await storage.addPushAuthMechanism(
      PushAuthMechanismRecord(
        id: "m", user: "\(id)", sealedSecret: [1], challenge: [2], created: 3, expires: 5000), with: nil,
      audit: event)
    try await storage.appendRepeatable(
      AuditRecord(.userUnlocked(user: "\(id)"), by: .user("\(id)"), at: 5), of: .targets(user: "\(id)"))

    // A request of an OpenID Connect client stays; one that cannot be polled is removed.
    try await storage.addClient(
      ClientRecord(id: "client", name: "n", authentication: .privateKeyJWT, delivery: .poll, created: 3),
      audit: event)
    _ = try await storage.addBackchannelRequest(
      BackchannelRecord(
        digest: [1], transaction: "kept", client: "client", delivery: .poll, expires: 5000,
        sealedNotice: nil, interval: 5),
      asking: TransactionRecord(id: "kept", user: "\(id)", content: "{}", created: 3, expires: 5000),
      limits: limits
    ) { _ in event }
    // The content that a container has signed names the user.
    let signer = SignerRecord(try #require(try await storage.container("c")))
    let decided = try await storage.decideTransaction(
      DecisionAttempt(transaction: "kept", by: signer, request: [1], expires: 5000), limits: limits
    ) { _, _ in
      .accept(
        DecisionRecord(state: .accepted, jws: "signed by \(id)", container: "c", time: 6), isSigned: true,
        hasRightNumber: true)
    } audit: { _ in
      event
    }.value
    #expect(decided == .decided)
    var other = TransactionRecord(id: "gone", user: "\(id)", content: "{}", created: 3, expires: 5000)
    other.requester = "key:k"
    let outcome = try await storage.addTransaction(other, key: nil, limits: limits) { _ in event }
    #expect(outcome == .added)
  }

  @Test(
    "after a deletion only pending notices have the user's id, until two sweeps later",
    arguments: StorageBackend.here)
  func noColumn(_ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let storage = try Storage.open(location).authenticatingRows(with: .forTests)
    try await Self.fill(storage)
    let database = try SQLDatabase.beside(location)
    let before = try await Self.tables(database)
    // Rows of the outbox have the subject.
    #expect(before.holding == before.naming.subtracting(["outbox"]).union(["users", "audit_counts"]))

    let event = Self.event
    let outcome = try await storage.deleteUser(
      "\(Self.id)", subject: "~new", at: 1010,
      audit: AuditRecord(.userDeleted(user: "\(Self.id)"), by: .local, at: 1010)
    ) { _ in event }
    #expect(outcome == .changed)
    let kept = try #require(try await storage.transaction("kept"))
    #expect(kept.user == "~subject" && kept.state == .accepted)
    #expect(kept.decision?.container == "c" && kept.decision?.jws == nil)
    #expect(try await storage.transaction("gone") == nil)
    #expect(try await Self.tables(database).holding == ["transaction_changes"])
    for time in [1020, 1020 + 600] as [Int64] { _ = try await storage.sweep(at: time) { _ in event } }
    #expect(try await Self.tables(database).holding.isEmpty)
    // An older cursor gets no user without a name.
    let begin = try await storage.transactionChanges(after: LogCursor())
    #expect(begin.users.isEmpty)
    await database.close()
    await storage.close()
  }
}
