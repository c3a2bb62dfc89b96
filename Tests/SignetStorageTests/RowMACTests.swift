import PostgreSQLFixture
import SignetCrypto
import SignetServerTesting
import SignetSQL
import SignetStorage
import SignetSystem
import SignetTestKit
import Testing

/// Rows that the server bases decisions on have MACs: changes by an attacker with write access to the database, without the
/// master key, are rejected.
@Suite(.timeLimit(.minutes(10))) struct RowMACTests {
  /// A table whose rows have MACs.
  struct AuthenticatedTable: Sendable, CustomTestStringConvertible {
    let table: String
    /// The condition that selects the tested row.
    var row = "1 = 1"
    /// Changed values for columns.
    var changes: [String: String] = [:]
    /// The columns that no MAC covers, since they grant nothing, or an older copy of the row would have them too.
    var uncovered: Set<String> = []
    /// Indicates whether the row, in a state that grants something, has a MAC.
    var hasMAC = true
    /// Indicates whether the columns are listed here, rather than in the tests of the table.
    var isListed: Bool { !changes.isEmpty }
    /// Returns whether the row is found altered; it may also throw.
    let isAltered: @Sendable (Storage) async throws -> Bool

    var testDescription: String { table }
  }

  static let authenticated: [AuthenticatedTable] = [
    AuthenticatedTable(
      table: "users", row: "id = 'lone'",
      changes: [
        "id": "'mallory'", "subject": "'~mallory'", "created": "9", "user_code": bytes, "state": "'active'",
        "state_reason": "'x'", "state_since": "9", "display_name": "'x'",
      ], uncovered: ["challenges", "challenge_after"]
    ) { storage in
      let altered = try await storage.users().first { $0.state == .altered }
      guard let altered else { return false }
      _ = try await storage.user(altered.id)
      return true
    },
    AuthenticatedTable(
      table: "api_keys", row: "id = 'key'",
      changes: [
        "id": "'other'", "name": "'x'", "scopes": "'admin'", "secret_digest": bytes, "created": "9",
        "revoked": "NULL", "display_name": "'x'",
      ]
    ) { storage in
      let altered = try await storage.apiKeys().first(where: \.isAltered)
      guard let altered else { return false }
      _ = try await storage.apiKey(altered.id)
      return true
    },
    AuthenticatedTable(
      table: "containers", row: "id = 'c'",
      changes: [
        "id": "'other'", "user_id": "'bob'", "activation": "'a-bob'", "device": bytes, "name": "'x'",
        "platform": "'x'", "keystore": "'tpm2'", "session_key": bytes, "encryption_key": bytes,
        "signing_key": bytes, "profile": bytes, "created": "9", "state": "'active'", "simulated": "1",
        "renews": "'x'", "renewals": "9", "succession": "'x'", "ended": "'wiped'", "key_origin": "'tpm2'",
        "standing": "'stepUp'",
      ], uncovered: ["failed_signatures", "renewal_wanted", "report_wanted"]
    ) { storage in
      let found = try await storage.containers(user: "alice") + storage.containers(user: "bob")
      let altered = found.first { $0.state == .altered }
      guard let altered else { return false }
      _ = try await storage.container(altered.id)
      return true
    },
    AuthenticatedTable(
      table: "credentials", row: "id = 'token'",
      changes: [
        "id": "'other'", "user_id": "'bob'", "serial": "'other'", "kind": "'hotp'", "algorithm": "'SHA1'",
        "digits": "4", "period": "9", "start": "9", "sealed_secret": bytes, "silent": "1", "created": "9",
        "state": "'active'", "last_counter": "-1", "drift": "9", "last_used": "9",
      ], uncovered: ["number", "failures"]
    ) { storage in
      let altered = try await storage.tokens(after: "", user: nil, limit: 10).first { $0.state == .altered }
      guard let altered else { return false }
      _ = try await storage.credential(altered.id)
      return true
    },
    AuthenticatedTable(
      table: "activations", row: "id = 'a-bob'",
      changes: [
        "id": "'other'", "user_id": "'alice'", "sealed_invite_key": bytes, "salt": bytes, "memory": "9",
        "passes": "9", "lanes": "9", "profile": bytes, "created": "9", "expires": "9999",
      ], uncovered: ["failed_attempts"]
    ) { storage in
      for user in ["alice", "bob"] as [UserID] { _ = try await storage.openActivation(user: user) }
      return false
    },
    AuthenticatedTable(
      table: "activations", row: "id = 'a-alice'", changes: ["state": "'open'"], hasMAC: false
    ) { storage in
      _ = try await storage.openActivation(user: "alice")
      return false
    },
    AuthenticatedTable(
      table: "account_states",
      changes: [
        "container": "'c'", "revision": "9", "policies": bytes, "ordered_lock": "0", "ordered_reason": "'x'",
        "verdict": "'stepUp'", "verdict_reason": "'x'", "challenge": bytes, "challenge_expires": "9",
        "report": "'x'", "reported": "9",
      ]
    ) { storage in
      // An altered one reads as that of a locked container, so it grants nothing.
      if let state = try await storage.accountState(of: "b"), state.orderedReason.hasPrefix("its row") {
        throw StorageFailure.altered(row: "b", of: "containers")
      }
      return false
    },
    AuthenticatedTable(
      table: "account_orders",
      changes: [
        "id": "'other'", "container": "'c'", "action": "'wipe'", "reason": "'x'", "created": "9",
        "receipt": "'x'", "received": "9",
      ], uncovered: ["number"]
    ) { storage in
      for container in ["b", "c"] as [ContainerID] {
        let altered = try await storage.deviceCommands(of: container).first(where: \.isAltered)
        guard let altered else { continue }
        let event = AuditRecord.sample()
        _ = try await storage.receiveDeviceCommand(
          altered.id, of: container, receipt: "r", at: 9, audit: event
        ) { _ in event }
        return true
      }
      return false
    },
    AuthenticatedTable(
      table: "clients", row: "id = 'revoked'",
      changes: [
        "id": "'other'", "name": "'x'", "authentication": "'client_secret_basic'", "key_set": bytes,
        "secret_digest": bytes, "delivery": "'push'", "endpoint": "'x'", "request_algorithm": "'x'",
        "number_digits": "9", "created": "9", "revoked": "NULL",
      ]
    ) { storage in
      let altered = try await storage.clients().first(where: \.isAltered)
      guard let altered else { return false }
      _ = try await storage.client(altered.id)
      return true
    },
    AuthenticatedTable(
      table: "signing_keys",
      changes: [
        "id": "'other'", "sealed": bytes, "public_key": bytes, "created": "9", "retired": "9",
        "succession": "'x'",
      ], uncovered: ["number"]
    ) { storage in
      let altered = try await storage.signingKeys().all.first(where: \.isAltered)
      guard let altered else { return false }
      _ = try altered.checked()
      return true
    },
    AuthenticatedTable(table: "devices", row: "user_id = 'alice'") {
      try await $0.devices(user: "alice").contains(where: \.isAltered)
    },
    AuthenticatedTable(table: "transactions", row: "id = 't'") { try await $0.transaction("t") == nil },
    AuthenticatedTable(table: "backchannel_requests") {
      try await $0.backchannelRequest(ofTransaction: "t") == nil
    },
    AuthenticatedTable(table: "outbox", row: "number = (SELECT min(number) FROM outbox)") {
      try await $0.dueDeliveries(on: .securityEvents, at: .max, limitPerReceiver: 1).contains(
        where: \.isAltered)
    },
    AuthenticatedTable(table: "uaf_credentials") {
      try await $0.uafCredentials(user: "alice").contains { $0.state == .altered }
    },
    AuthenticatedTable(table: "uaf_sessions", row: "id = 's'") { try await $0.uafOperation("s") == nil },
    AuthenticatedTable(table: "uaf_targets") { try await $0.uafTarget("d") == nil },
    AuthenticatedTable(table: "pushauth_mechanisms") {
      try await $0.pushAuthMechanisms(user: "alice").contains { $0.state == .altered }
    },
    AuthenticatedTable(table: "pushauth_messages") { try await $0.pushAuthMessage("g") == nil },
  ]

  /// The tables without MACs, each with the reason why a made or changed row grants nothing.
  ///
  /// A table that a gate reads belongs in ``authenticated``, with a MAC.
  private static let uncoded: [String: String] = [
    "push_targets": "sealed for the row; it is told that there is something",
    "authenticator_keys":
      "a row refuses a key; where somebody has removed it, the key still has to be proved",
    "waits": "counts, of which an older copy would be as good",
    "audit_counts": "whether the log gets an entry, of which there may be too many already",
    "request_shares": "counts, as those of users", "requests": "one that is known is refused",
    "transaction_changes": "wakes who waits",
    "outbox_receivers": "deliveries of the outbox have MACs",
    "audit": "a chain of its own", "schema_version": "of the database",
  ]

  private static let bytes = "CAST('x' AS BLOB)"

  private static func columns(_ database: SQLDatabase) async throws -> [String: Set<String>] {
    try await database.read { connection in
      let query =
        switch connection.dialect {
        case .sqlite:
          """
          SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
          WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'
          """
        case .postgreSQL:
          """
          SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT) FROM information_schema.columns
          WHERE table_schema = current_schema()
          """
        }
      var found: [String: Set<String>] = [:]
      for (table, column) in try connection.rows(query, [], { (try $0.text(0), try $0.text(1)) }) {
        found[table, default: []].insert(column)
      }
      return found
    }.value
  }

  @Test("each table has MACs or a documented reason for none", arguments: StorageBackend.here)
  func tables(_ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let storage = try Storage.open(location)
    let database = try SQLDatabase.beside(location)
    let columns = try await Self.columns(database)
    let withMACs = columns.filter { $0.value.contains("code") }.keys
    #expect(Set(withMACs) == Set(Self.authenticated.map(\.table)))
    #expect(Set(columns.keys).subtracting(withMACs) == Set(Self.uncoded.keys))
    for (table, entries) in Dictionary(grouping: Self.authenticated.filter(\.isListed), by: \.table) {
      let listed = entries.reduce(into: ["code"] as Set) { $0.formUnion($1.uncovered.union($1.changes.keys)) }
      #expect(columns[table] == listed, "the columns of \(table)")
    }
    await database.close()
    await storage.close()
  }

  @Test(
    "an altered row is never trusted", arguments: authenticated,
    StorageBackend.here)
  func changes(_ authenticated: AuthenticatedTable, _ backend: StorageBackend) async throws {
    let folder = try TemporaryFolder()
    let location = try backend.location(in: folder)
    let storage = try Storage.open(location).authenticatingRows(with: .forTests)
    try await Self.fill(storage)
    let database = try SQLDatabase.beside(location)
    if authenticated.table == "account_states" {
      // Each container has one; this one can only replace a missing one.
      _ = try await database.write {
        try $0.execute("DELETE FROM account_states WHERE container <> 'b'")
      }.value
    }
    #expect(try await !Self.isRefused(authenticated, storage), "before any change")
    // Storage keeps rows that it has verified: these are right except for the MAC.
    let otherMACs = ["NULL", "substr(code, 1, 0)", "substr(code, 1, 2)", "substr(code, 1, 31)"]
    let changes = authenticated.changes.map { (column: $0.key, value: $0.value) }
    for (column, value) in changes + (authenticated.hasMAC ? otherMACs.map { ("code", $0) } : []) {
      #expect(
        try await Self.isRefused(authenticated, storage, with: column, as: value, database),
        "\(authenticated.table): \(column) = \(value)")
    }
    for column in authenticated.uncovered.subtracting(["number"]) {
      #expect(
        try await !Self.isRefused(authenticated, storage, with: column, as: "1", database),
        "\(authenticated.table): \(column)")
    }
    #expect(try await !Self.isRefused(authenticated, storage), "after all changes were undone")
    await database.close()
    await storage.close()
  }

  /// A storage in which bob's container is active and has a request, and an attacker who writes to the database.
  private struct Bench {
    let storage: Storage
    let event: AuditRecord
    private let folder: TemporaryFolder
    private let database: SQLDatabase

    init(on backend: StorageBackend) async throws {
      let folder = try TemporaryFolder()
      let location = try backend.location(in: folder)
      let storage = try Storage.open(location).authenticatingRows(with: .forTests)
      try await RowMACTests.fill(storage)
      let event = AuditRecord.sample()
      let unlock = DeviceCommandRecord(id: "u", container: "b", action: .unlock, reason: "", created: 7)
      #expect(try await storage.addDeviceCommand(unlock, audit: event) == .added)
      let asked = TransactionRecord(id: "asked", user: "bob", content: "{}", created: 8, expires: 100)
      let limits = TransactionLimits(pending: 1000, challenges: 1000)
      #expect(
        try await storage.addTransaction(asked, key: nil, limits: limits, audit: { _ in event }) == .added)
      (self.storage, self.event, self.folder) = (storage, event, folder)
      database = try SQLDatabase.beside(location)
    }

    func tamper(_ statement: String) async throws {
      _ = try await database.write { try $0.execute(statement) }.value
    }

    func close() async {
      await database.close()
      await storage.close()
    }
  }

  @Test("an altered invite refuses correct and wrong proofs alike", arguments: StorageBackend.here)
  func alteredInvite(_ backend: StorageBackend) async throws {
    let bench = try await Bench(on: backend)
    let event = bench.event
    @Sendable func prove() async throws -> ActivationOutcome {
      try await bench.storage.finishActivation("a-bob", container: nil, limit: 5, at: 10) { _ in event }
    }
    #expect(try await prove() == .wrongProof(remaining: 4))
    try await bench.tamper("UPDATE activations SET expires = 9999 WHERE id = 'a-bob'")
    await #expect(throws: StorageFailure.altered(row: "a-bob", of: "activations")) { try await prove() }
    await bench.close()
  }

  @Test(
    "the lock by an altered account state is logged, and the container's requests end",
    arguments: StorageBackend.here,
    ["UPDATE account_states SET verdict = 'stepUp'", "DELETE FROM account_states"])
  func alteredCompliance(_ backend: StorageBackend, _ change: String) async throws {
    let bench = try await Bench(on: backend)
    let (storage, event) = (bench.storage, bench.event)
    try await bench.tamper("\(change) WHERE container = 'b'")
    #expect(try await storage.container("b")?.compliance == .open)
    for time in [9, 10] as [Int64] {
      try await storage.setAccountChallenge([1], expires: 100, of: "b", at: time)
      #expect(try await storage.container("b")?.compliance == .locked)
      #expect(try await storage.transaction("asked")?.state == .withdrawn)
    }
    let entries = try await storage.auditEntries(after: 0, limit: 1_000).map(\.text)
    let locks = entries.filter { $0.contains("account.altered") }
    #expect(locks.count == 1, "\(locks)")
    let lock = try #require(locks.first)
    #expect(lock.hasPrefix(#"{"time":9,"event":"account.altered","by":"server","user":""#))
    #expect(lock.contains(#""container":"b","reason":"its row was not written by this server""#), "\(lock)")
    #expect(entries.contains { $0.contains("transaction.withdrawn") && $0.contains("noAuthenticator") })
    // An order is recorded by itself, without a further lock.
    try await bench.tamper("\(change) WHERE container = 'b'")
    let again = DeviceCommandRecord(id: "v", container: "b", action: .unlock, reason: "", created: 11)
    #expect(try await storage.addDeviceCommand(again, audit: event) == .added)
    #expect(try await storage.container("b")?.compliance == .open)
    let later = try await storage.auditEntries(after: 0, limit: 1_000).map(\.text)
    #expect(later.filter { $0.contains("account.altered") } == locks)
    await bench.close()
  }

  @Test(
    "after an altered revision the device learns of the lock and of its unlock",
    arguments: StorageBackend.here, ["9223372036854775807", "0", "-9223372036854775808"])
  func alteredRevision(_ backend: StorageBackend, _ number: String) async throws {
    let bench = try await Bench(on: backend)
    let storage = bench.storage
    func revision() async throws -> Int64 { try #require(try await storage.accountState(of: "b")).revision }
    let before = try await revision()
    func alter() async throws {
      try await bench.tamper("UPDATE account_states SET revision = \(number) WHERE container = 'b'")
    }
    let now: Int64 = 1_800_000_000
    try await alter()
    try await storage.setAccountChallenge([1], expires: now + 100, of: "b", at: now)
    let locked = try await revision()
    #expect(locked > before && locked == now + 1)
    #expect(try await storage.container("b")?.compliance == .locked)
    let unlock = DeviceCommandRecord(id: "v", container: "b", action: .unlock, reason: "", created: now + 1)
    #expect(try await storage.addDeviceCommand(unlock, audit: bench.event) == .added)
    #expect(try await revision() == locked + 1)
    #expect(try await storage.container("b")?.compliance == .open)
    // An order that comes before the discovery repairs the row too.
    try await alter()
    let again = DeviceCommandRecord(id: "w", container: "b", action: .unlock, reason: "", created: now + 9)
    #expect(try await storage.addDeviceCommand(again, audit: bench.event) == .added)
    #expect(try await revision() == now + 10)
    await bench.close()
  }

  @Test(
    "a step fails if the last number was altered to the maximum",
    arguments: ["audit", "transaction_changes"])
  func lastNumber(_ table: String) async throws {
    // A database server numbers entries for each connection.
    let bench = try await Bench(on: .sqlite)
    let (storage, event) = (bench.storage, bench.event)
    let lock = DeviceCommandRecord(id: "v", container: "b", action: .lock, reason: "", created: 9)
    try await bench.tamper(
      "UPDATE \(table) SET number = 9223372036854775807 WHERE number = (SELECT max(number) FROM \(table))")
    let failure = await #expect(throws: StorageFailure.self) {
      _ = try await storage.addDeviceCommand(lock, audit: event)
    }
    #expect(
      failure
        == .failed(
          detail:
            "the last number in \(table) was not written by this server; restore the database from a backup"
        ))
    #expect(try await storage.container("b")?.compliance == .open)
    await bench.close()
  }

  @Test(
    "the lock of a device by an altered container is logged, and its requests end",
    arguments: StorageBackend.here)
  func alteredContainer(_ backend: StorageBackend) async throws {
    let bench = try await Bench(on: backend)
    let (storage, event) = (bench.storage, bench.event)
    let device = try #require(try await storage.devices(user: "bob").first)
    #expect(device.compliance == .open)
    try await bench.tamper("UPDATE containers SET name = 'x' WHERE id = 'b'")

    // A registration on the device checks its containers first.
    try await storage.addUAFOperation(
      UAFOperationRecord(
        id: "late", operation: "Reg", user: "bob", created: 8, expires: 100, state: .requested), audit: event)
    var key = UAFCredentialRecord(
      aaid: "7357#0001", keyID: [2], user: "bob", publicKey: [4, 2], algorithm: 1, keyFormat: 0x100,
      signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 9)
    key.device = device.installation
    let outcome = try await storage.finishUAFRegistration(
      "late", UAFOperationEnd(status: 1200, time: 9), adding: [key.new], limit: 4
    ) { _ in event }
    #expect(outcome == .accepted)
    #expect(try await storage.device(device.id)?.compliance == .locked)
    #expect(try await storage.transaction("asked")?.state == .withdrawn)
    let entries = try await storage.auditEntries(after: 0, limit: 1_000).map(\.text)
    let locks = entries.filter { $0.contains("container.altered") }
    #expect(locks.count == 1, "\(locks)")
    let lock = try #require(locks.first)
    #expect(lock.hasPrefix(#"{"time":9,"event":"container.altered","by":"server","user":""#))
    #expect(lock.contains(#""container":"b","reason":"its row was not written by this server""#), "\(lock)")
    #expect(lock.contains("\"device\":\"\(device.id)\""), "\(lock)")
    #expect(entries.contains { $0.contains("transaction.withdrawn") && $0.contains("noAuthenticator") })

    // An order has its own record; the end of one leaves the lock, which was not ordered.
    for count in [1, 2] {
      let order: @Sendable (ContainerID) -> (DeviceCommandRecord, AuditRecord) = { id in
        (DeviceCommandRecord(id: "o-\(id)", container: id, action: .lock, reason: "", created: 10), event)
      }
      let ordered =
        count == 1
        ? try await storage.lockDevice(device.id, reason: "", audit: event, order: order)
        : try await storage.unlockDevice(device.id, audit: event, order: order)
      #expect(ordered == .done([]))
      #expect(try await storage.device(device.id)?.compliance == .locked)
      let later = try await storage.auditEntries(after: 0, limit: 1_000).map(\.text)
      #expect(later.filter { $0.contains("container.altered") }.count == count)
    }
    // A revoked container locks nothing.
    #expect(try await storage.revokeContainer("b", audit: event, lost: { _ in event }))
    #expect(try await storage.device(device.id)?.compliance == .open)
    await bench.close()
  }

  @Test(
    "a device lock disables codes of a container with an altered row",
    arguments: StorageBackend.here,
    [
      "UPDATE containers SET name = 'x' WHERE id = 'b'",
      "UPDATE containers SET user_id = 'alice' WHERE id = 'b'",
    ])
  func codesOfAlteredContainer(_ backend: StorageBackend, _ change: String) async throws {
    let bench = try await Bench(on: backend)
    let (storage, event) = (bench.storage, bench.event)
    #expect(try await storage.credential("b")?.state == .active)
    let device = try #require(try await storage.devices(user: "bob").first)
    try await bench.tamper(change)
    #expect(
      try await storage.lockDevice(device.id, reason: "", audit: event) { id in
        (DeviceCommandRecord(id: "o-\(id)", container: id, action: .lock, reason: "", created: 10), event)
      } == .done([]))
    #expect(try await storage.credential("b")?.state == .disabled)
    // The end of the order restores none of them.
    _ = try await storage.unlockDevice(device.id, audit: event) { id in
      (DeviceCommandRecord(id: "p-\(id)", container: id, action: .unlock, reason: "", created: 11), event)
    }
    #expect(try await storage.credential("b")?.state == .disabled)
    await bench.close()
  }

  /// Returns whether the row is found altered, and no step uses it.
  private static func isRefused(_ authenticated: AuthenticatedTable, _ storage: Storage) async throws -> Bool
  {
    do {
      let isRead = try await authenticated.isAltered(storage)
      return isRead && !authenticated.isListed
    } catch StorageFailure.altered { return true }
  }

  /// Returns the same while a column has another value.
  private static func isRefused(
    _ authenticated: AuthenticatedTable, _ storage: Storage, with column: String, as value: String,
    _ database: SQLDatabase
  ) async throws -> Bool {
    let (table, row) = (authenticated.table, authenticated.row)
    let value = value == bytes && database.dialect == .postgreSQL ? "'\\x78'::bytea" : value
    _ = try await database.write { connection in
      _ = try connection.execute("CREATE TABLE saved AS SELECT * FROM \(table) WHERE \(row)")
      return try connection.execute("UPDATE \(table) SET \(column) = \(value) WHERE \(row)")
    }.value
    let found = try await isRefused(authenticated, storage)
    let changed = column == "id" ? "id = \(value)" : row
    _ = try await database.write { connection in
      _ = try connection.execute(
        "UPDATE \(table) SET \(column) = (SELECT \(column) FROM saved LIMIT 1) WHERE \(changed)")
      _ = try connection.execute("DROP TABLE saved")
    }.value
    return found
  }

  /// Adds a row to each table with MACs.
  private static func fill(_ storage: Storage) async throws {
    let event = AuditRecord.sample()
    @Sendable func invite(_ id: ID<ActivationRecord>, _ user: UserID) async throws {
      let activation = ActivationRecord(
        id: id, user: user, sealedInviteKey: [1], salt: [2], memoryKiB: 1, passes: 1, lanes: 1, profile: [3],
        created: 1, expires: 1000)
      try await storage.addActivation(activation, audit: event)
    }
    @Sendable func activate(_ id: ContainerID, _ user: UserID, from activation: ID<ActivationRecord>)
      async throws
    {
      try await invite(activation, user)
      var container = ContainerRecord(
        id: id, user: user, activation: activation, device: [4], name: "", platform: "", keystore: "software",
        sessionKey: [5] + id.text.utf8, encryptionKey: [6] + id.text.utf8, signingKey: [7] + id.text.utf8,
        profile: [8],
        created: 3)
      container.keyOrigin = "software"
      let codes = CredentialRecord(
        id: "\(id)", user: user, kind: .totp, algorithm: "SHA256", digits: 6, period: 30, sealedSecret: [9],
        created: 3)
      _ = try await storage.finishActivation(
        "\(activation)", container: NewContainer(container, codes), limit: 5, at: 4
      ) { _ in nil }
      #expect(
        try await storage.confirmContainer("\(id)", at: 5, audit: { _ in event }, lost: { _ in event })
          == .activated)
    }
    for user in ["alice", "bob", "lone"] as [UserID] {
      try await storage.addUser(UserRecord(id: user, created: 1), audit: event)
    }
    try await storage.addOutboxReceiver(OutboxReceiver(.securityEvents, "r"), lifetime: 100)
    let suspended = AuditRecord(.userSuspended(user: "lone", reason: ""), by: .local, at: 2)
    _ = try await storage.suspendUser("lone", reason: "", subject: "~new", at: 2, audit: suspended) { _ in
      event
    }
    try await activate("c", "alice", from: "a-alice")
    _ = try await storage.revokeContainer("c", audit: event) { _ in event }
    try await activate("b", "bob", from: "a-b")
    let order = DeviceCommandRecord(id: "o", container: "b", action: .lock, reason: "", created: 6)
    #expect(try await storage.addDeviceCommand(order, audit: event) == .added)
    try await invite("a-bob", "bob")
    var token = CredentialRecord(
      id: "token", user: "alice", serial: "serial", kind: .totp, algorithm: "SHA256", digits: 6, period: 30,
      sealedSecret: [9], created: 3, state: .disabled)
    token.lastCounter = 5
    _ = try await storage.addTokens([token]) { _ in event }
    let apiKey = APIKeyRecord(id: "key", name: "n", scopes: ["relying-party"], secretDigest: [1], created: 3)
    try await storage.addAPIKey(apiKey, audit: event)
    _ = try await storage.revokeAPIKey("key", keepingOneOf: "admin", at: 4, audit: event)
    for id in ["client", "revoked"] as [ID<ClientRecord>] {
      let client = ClientRecord(
        id: id, name: "n", authentication: .privateKeyJWT, delivery: .poll, created: 3)
      try await storage.addClient(client, audit: event)
    }
    _ = try await storage.revokeClient("revoked", at: 4, audit: event) { _ in event }
    let limits = TransactionLimits(pending: 1000, challenges: 1000)
    _ = try await storage.addBackchannelRequest(
      BackchannelRecord(
        digest: [1], transaction: "t", client: "client", delivery: .poll, expires: 100, sealedNotice: nil,
        interval: 5),
      asking: TransactionRecord(id: "t", user: "alice", content: "{}", created: 3, expires: 100),
      limits: limits
    ) { _ in event }
    for operation in ["Reg", "Auth"] {
      try await storage.addUAFOperation(
        UAFOperationRecord(
          id: operation == "Reg" ? "r" : "s", operation: operation, user: "alice", created: 3, expires: 100,
          state: .requested), audit: event)
    }
    let credential = UAFCredentialRecord(
      aaid: "7357#0001", keyID: [1], user: "alice", publicKey: [4], algorithm: 1, keyFormat: 0x100,
      signCounter: 0, registrationCounter: 1, authenticatorVersion: 256, created: 3)
    _ = try await storage.finishUAFRegistration(
      "r", UAFOperationEnd(status: 1200, time: 4), adding: [credential.new], limit: 1
    ) { _ in event }
    _ = try await storage.addUAFTarget(
      UAFTargetRecord(
        id: "d", user: "alice", device: nil, name: "Phone", dispatcher: nil, sealedTarget: nil,
        signatureKey: [4], encryptionKey: nil, created: 3), limit: 1, audit: event)
    let signingKey = SigningKeyRecord(id: "sk", sealed: [1], publicKey: [4], created: 3)
    #expect(try await storage.addSigningKey(signingKey, replacing: nil, audit: event))
    try await storage.addPushAuthMechanism(
      PushAuthMechanismRecord(
        id: "m", user: "alice", sealedSecret: [1], challenge: [2], created: 3, expires: 100), with: nil,
      audit: event)
    _ = try await storage.registerPushAuthMechanism("m", named: "app", sealedDevice: [5], at: 4, audit: event)
    _ = try await storage.ask(
      PushAuthMessageRecord(
        id: "g", of: "tg", mechanism: "m", kind: "default", challenge: [3], created: 5, expires: 100),
      of: "alice", limits: limits)
  }
}
