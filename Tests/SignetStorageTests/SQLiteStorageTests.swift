import Foundation
import SignetSQLite
import SignetServerTesting
import SignetStorage
import SignetTestKit
import Synchronization
import Testing

/// What only the SQLite back end promises.
@Suite(.timeLimit(.minutes(10))) struct SQLiteStorageTests {
  private static let event = AuditRecord.sample()

  @Test("two storages on one file, each with a connection as a process has it")
  func letsOneOfTwoConnectionsWin() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let storages = [try SQLiteStorage(path: path), try SQLiteStorage(path: path)]
    try await storages[0].addUser(UserRecord(id: "alice", created: 1), audit: Self.event)
    let token = CredentialRecord(
      id: "t1", user: "alice", serial: "s1", kind: .hotp, algorithm: "SHA1", digits: 6, period: 0,
      sealedSecret: [1], created: 1)
    _ = try await storages[0].addTokens([token]) { _ in Self.event }
    let wins = try await withThrowingTaskGroup(of: [Bool].self) { group in
      for number in 0..<50 {
        let storage = storages[number % 2]
        group.addTask {
          let claimed = try await storage.claimRequest([1, 2, 3], container: "c1", expires: 10)
          let code = try await storage.attemptCode(CodeAttempt(user: nil, serial: "s1"), judge: Self.judge)
          let added: Bool
          do {
            try await storage.addUser(UserRecord(id: "bob", created: 1), audit: Self.event)
            added = true
          } catch StorageFailure.exists { added = false }
          return [claimed, code == .refused, added]
        }
      }
      return try await group.reduce(into: [0, 0, 0]) { counts, result in
        for index in 0..<3 where result[index] { counts[index] += 1 }
      }
    }
    #expect(wins == [1, 7, 1])
    #expect(try await storages[1].credential("t1")?.failures == 7)
    var chain = AuditChain()
    let entries = try await storages[0].auditEntries(after: 0, limit: 1000)
    #expect(entries.allSatisfy { chain.verify($0) })
    #expect(entries.count == 53)
  }

  /// Refuses everything, and locks after seven times.
  private static func judge(_ situation: CodeSituation) -> CodeVerdict {
    let failures = situation.credentials.first?.failures ?? 0
    var verdict = CodeVerdict(failures < 7 ? .refused : .locked, wait: nil, audit: event)
    verdict.changed = situation.credentials.filter { $0.failures < 7 }.map {
      var credential = $0
      credential.failures += 1
      return credential
    }
    return verdict
  }

  @Test("what makes one-time passwords is brought along from the format before")
  func migratesCredentials() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let before = try Database(path: path)
    try before.migrate(Array(SQLiteSchema.migrations.prefix(4)))
    try before.execute(
      script: """
        INSERT INTO users (id, created, failed_codes) VALUES ('alice', 1, 5);
        INSERT INTO activations (id, user, sealed_invite_key, salt, memory, passes, lanes, profile, created, expires, state)
          VALUES ('a1', 'alice', x'01', x'02', 1, 1, 1, x'03', 1, 2, 'used');
        """)
    func add(_ id: String, _ state: String, _ counter: Int64?, _ profile: String) throws {
      try before.execute(
        """
        INSERT INTO containers (id, user, activation, device, name, platform, keystore, session_key, encryption_key,
          signing_key, sealed_otp_secret, profile, created, state, last_counter)
        VALUES (?, 'alice', 'a1', x'00', '', '', '', x'00', x'00', x'00', x'0909', ?, 7, ?, ?)
        """, .text(id), .blob(Array(profile.utf8)), .text(state), .optional(counter))
    }
    let otp = #""otp":{"label":"otp","type":"totp","algorithm":"SHA512","digits":8,"period":60}"#
    let silent = #"{"type":"password","password":{},"lock":{"type":"silent"}}"#
    try add("c1", "active", 41, "{\"protection\":{\"type\":\"device\"},\(otp)}")
    try add("c2", "pending", nil, "{\"protection\":\(silent),\(otp)}")
    try add("c3", "active", nil, "{\"protection\":\(silent),\"keys\":{\"otp\":{\"type\":\"device\"}},\(otp)}")
    try add("c4", "active", nil, "{\"protection\":{\"type\":\"device\"},\"keys\":{\"otp\":\(silent)},\(otp)}")
    try add("c5", "revoked", 40, "{\"protection\":{\"type\":\"device\"},\(otp)}")
    try add("c6", "active", 40, "not JSON")
    let storage = try SQLiteStorage(path: path)
    func expected(_ id: String, _ state: CredentialRecord.State, isSilent: Bool, _ counter: Int64)
      -> CredentialRecord
    {
      var record = CredentialRecord(
        id: id, user: "alice", kind: .totp, algorithm: "SHA512", digits: 8, period: 60, sealedSecret: [9, 9],
        isSilent: isSilent, created: 7, state: state)
      (record.lastCounter, record.failures) = (counter, 5)
      return record
    }
    #expect(try await storage.credential("c1") == expected("c1", .active, isSilent: false, 41))
    // What was pending has not shown that its keys are its own: given up since format 19.
    #expect(try await storage.credential("c2") == nil)
    #expect(try await storage.container("c2")?.state == .revoked)
    #expect(try await storage.credential("c3") == expected("c3", .active, isSilent: false, -1))
    #expect(try await storage.credential("c4") == expected("c4", .active, isSilent: true, -1))
    for id in ["c5", "c6"] { #expect(try await storage.credential(id) == nil) }
    #expect(try await storage.containers(user: "alice").map(\.id) == ["c1", "c2", "c3", "c4", "c5", "c6"])
  }

  @Test("counters that lay in a table of their own come back to their credentials")
  func migratesCounters() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let before = try Database(path: path)
    try before.migrate(Array(SQLiteSchema.migrations.prefix(12)))
    try before.execute(
      script: """
        INSERT INTO users (id, created) VALUES ('alice', 1);
        INSERT INTO code_generators VALUES
          (3, 'c3', 'alice', NULL, 'totp', 'SHA256', 8, 60, 5, x'0909', 1, 7, 'active'),
          (9, 'c9', NULL, 'serial', 'hotp', 'SHA1', 6, 0, 0, x'0a', 0, 8, 'disabled');
        INSERT INTO code_places VALUES (3, 41, -2, 5), (9, 1000, 0, 0);
        """)
    let storage = try SQLiteStorage(path: path)
    var first = CredentialRecord(
      id: "c3", user: "alice", kind: .totp, algorithm: "SHA256", digits: 8, period: 60, start: 5,
      sealedSecret: [9, 9], isSilent: true, created: 7, state: .active)
    (first.lastCounter, first.drift, first.failures) = (41, -2, 5)
    #expect(try await storage.credential("c3") == first)
    let second = try #require(try await storage.credential("c9"))
    #expect((second.serial, second.lastCounter, second.state) == ("serial", 1000, .disabled))
  }

  @Test(
    "a state that is none is no state: neither a yes, nor open to another app",
    arguments: ["pushauth_mechanisms", "pushauth_messages"])
  func refusesUnknownStates(_ table: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let storage = try SQLiteStorage(path: path)
    try await storage.addUser(UserRecord(id: "alice", created: 1), audit: Self.event)
    let mechanism = PushAuthMechanismRecord(
      id: "m", user: "alice", sealedSecret: [1], challenge: [2], created: 1, expires: 100)
    try await storage.addPushAuthMechanism(mechanism, with: nil, audit: Self.event)
    #expect(
      try await storage.registerPushAuthMechanism(
        "m", named: "app", sealedDevice: [3], at: 2, audit: Self.event))
    let message = PushAuthMessageRecord(
      id: "a", mechanism: "m", kind: "default", challenge: [4], created: 2, expires: 100)
    #expect(try await storage.addPushAuthMessage(message, limit: 1, audit: Self.event))
    let read: @Sendable () async throws -> Bool = {
      table == "pushauth_mechanisms"
        ? try await storage.pushAuthMechanism("m") != nil : try await storage.pushAuthMessage("a") != nil
    }
    #expect(try await read())
    try Database(path: path, mode: .readWrite).execute("UPDATE \(table) SET state = 'accepted'")
    await #expect(throws: StorageFailure.self) { _ = try await read() }
  }

  @Test("changes of concurrent callers share commits")
  func groupsCommits() async throws {
    let folder = try TemporaryFolder()
    let gate = Gate()
    let storage = try SQLiteStorage(path: folder.path + "/signet.sqlite") { sql throws(SQLiteFailure) in
      if sql == "COMMIT" { gate.pass() }
    }
    // The first commit is held until the others wait behind it; they then need one commit, and a second where they
    // came in while it began.
    let first = Task { try await storage.append(Self.event) }
    await gate.waitUntilReached()
    let others = (0..<200).map { _ in Task { try await storage.append(Self.event) } }
    while storage.waitingChangeCount < 200 { await Task.yield() }
    gate.open()
    try await first.value
    for task in others { try await task.value }
    #expect(await storage.commitCount == 2)
    #expect(try await storage.auditEntries(after: 0, limit: 1000).count == 201)
  }

  @Test("one bad change in a commit undoes itself and no other")
  func undoesOneChangeOfACommit() async throws {
    let folder = try TemporaryFolder()
    let storage = try SQLiteStorage(path: folder.path + "/signet.sqlite")
    let outcomes = await withTaskGroup(of: StorageFailure?.self) { group in
      for number in 0..<50 {
        group.addTask {
          do throws(StorageFailure) {
            // Every id twice: one of each pair fails in the middle of a commit.
            try await storage.addUser(UserRecord(id: "u\(number / 2)", created: 1), audit: Self.event)
            return nil
          } catch { return error }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.filter { $0 == nil }.count == 25)
    #expect(outcomes.filter { $0 == .exists }.count == 25)
    #expect(try await storage.users().count == 25)
    #expect(try await storage.auditEntries(after: 0, limit: 100).count == 25)
  }

  @Test func refusesANewerFormat() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    try await SQLiteStorage(path: path).close()
    try Database(path: path).execute(script: "PRAGMA user_version = 99")
    let failure = #expect(throws: StorageFailure.self) { try SQLiteStorage(path: path) }
    guard case .tooNew(found: 99, _) = failure else {
      Issue.record("another failure: \(String(describing: failure))")
      return
    }
  }

  @Test("containers from before the origin of keys was kept have none")
  func takesOverContainers() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let before = try Database(path: path)
    try before.migrate(Array(SQLiteSchema.migrations.prefix(3)))
    try before.execute(
      script: """
        INSERT INTO users (id, created) VALUES ('alice', 1);
        INSERT INTO activations VALUES ('a', 'alice', x'', x'', 1, 1, 1, x'', 1, 2, 0, 'used');
        INSERT INTO containers (id, user, activation, device, name, platform, keystore, session_key, encryption_key, signing_key,
          sealed_otp_secret, profile, created, state)
          VALUES ('c', 'alice', 'a', x'', '', 'linux', 'tpm2', x'', x'', x'', x'', x'', 1, 'active');
        """)
    let storage = try SQLiteStorage(path: path)
    let container = try #require(try await storage.container("c"))
    #expect(container.keyOrigin == nil && container.keystore == "tpm2")
    await storage.close()
  }

  @Test(
    "a public key belongs to the first container that had it, also in a database from before that was kept")
  func takesOverPublicKeys() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let before = try Database(path: path)
    try before.migrate(Array(SQLiteSchema.migrations.prefix(18)))
    try before.execute(
      script: """
        INSERT INTO users (id, created) VALUES ('alice', 1);
        INSERT INTO activations VALUES ('a', 'alice', x'', x'', 1, 1, 1, x'', 1, 9, 0, 'open');
        """)
    for (id, state, created, keys) in [
      ("late", "active", 7, ["04", "02", "05"]), ("first", "revoked", 6, ["01", "02", "03"]),
      ("open", "pending", 8, ["06", "07", "08"]),
    ] {
      let literals = keys.map { "x'\($0)'" }.joined(separator: ", ")
      try before.execute(
        script: """
          INSERT INTO containers (id, user, activation, device, name, platform, keystore, session_key, encryption_key,
            signing_key, profile, created, state)
            VALUES ('\(id)', 'alice', 'a', x'', '', 'linux', 'tpm2', \(literals), x'', \(created), '\(state)');
          """)
    }
    let storage = try SQLiteStorage(path: path)
    let owners = try Database(path: path).query(
      "SELECT hex(public_key) || ' ' || container AS owner FROM container_keys ORDER BY public_key"
    ).map { try $0.text("owner") }
    #expect(
      owners == ["01 first", "02 first", "03 first", "04 late", "05 late", "06 open", "07 open", "08 open"])
    #expect(try await storage.container("late")?.state == .active)
    #expect(try await storage.container("open")?.state == .revoked, "its device activates again")
    func finish(_ id: String, signing: [UInt8]) async throws -> ActivationOutcome {
      let record = ContainerRecord(
        id: id, user: "alice", activation: "a", device: [1], name: "", platform: "linux",
        keystore: "software",
        sessionKey: Array("s\(id)".utf8), encryptionKey: Array("e\(id)".utf8), signingKey: signing,
        profile: [],
        created: 2)
      let credential = CredentialRecord(
        id: id, user: "alice", kind: .totp, algorithm: "SHA256", digits: 6, period: 30, sealedSecret: [1],
        created: 2)
      return try await storage.finishActivation(
        "a", container: NewContainer(record, credential), limit: 5, at: 3
      ) { _ in Self.event }
    }
    #expect(try await finish("n1", signing: [2]) == .keyTaken)
    #expect(try await finish("n1", signing: [9]) == .staged)
    #expect(try await finish("n2", signing: [9]) == .staged, "in the place of the pending one")
    #expect(try await storage.container("n1") == nil)
    await storage.close()
  }

  @Test func refusesWhatIsNoDatabase() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    #expect(throws: StorageFailure.readOnly) { try SQLiteStorage(path: folder.path + "/none/signet.sqlite") }
    try Data("this is no database, whatever its name says".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: StorageFailure.self) { try SQLiteStorage(path: path) }
  }

  @Test func keepsTheFilePrivate() async throws {
    let folder = try TemporaryFolder()
    let storage = try SQLiteStorage(path: folder.path + "/signet.sqlite")
    try await storage.append(Self.event)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }
}

/// Holds the first who passes until it is opened.
private final class Gate: Sendable {
  private let isReached = Mutex(false)
  private let semaphore = DispatchSemaphore(value: 0)

  func pass() {
    let isFirst = isReached.withLock { isReached -> Bool in
      defer { isReached = true }
      return !isReached
    }
    if isFirst { semaphore.wait() }
  }

  func open() { semaphore.signal() }

  func waitUntilReached() async {
    while !isReached.withLock({ $0 }) { await Task.yield() }
  }
}
