import Foundation
import PostgreSQLFixture
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetSystem
import SignetTestKit
import Synchronization
import Testing

/// Guarantees of the SQLite back end alone.
@Suite(.timeLimit(.minutes(10))) struct SQLiteStorageTests {
  private static let event = AuditRecord.sample()

  @Test("two storages on one file, each with its own connection, as in two processes")
  func letsOneOfTwoConnectionsWin() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let storages = [try Storage(.file(path)), try Storage(.file(path))]
    try await storages[0].addUser(UserRecord(id: "alice", created: 1), audit: Self.event)
    let token = CredentialRecord(
      id: "t1", user: "alice", serial: "s1", kind: .hotp, algorithm: "SHA1", digits: 6, period: 0,
      sealedSecret: [1], created: 1)
    _ = try await storages[0].addTokens([token]) { _ in Self.event }
    let wins = try await withThrowingTaskGroup(of: [Bool].self) { group in
      for number in 0..<50 {
        let storage = storages[number % 2]
        group.addTask {
          let claimed = try await storage.claimID([1, 2, 3], of: "uaf:t1", expires: 10)
          let code = try await storage.attemptCode(OTPSubject(user: nil, serial: "s1"), verify: Self.verify)
            .value
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
    #expect(try await storages[0].verifyAudit().count == 53)
  }

  /// Rejects every code, and locks after seven.
  private static func verify(_ snapshot: OTPSnapshot) -> OTPResult {
    let failures = snapshot.credentials.first?.failures ?? 0
    var result = OTPResult(failures < 7 ? .refused : .locked, wait: nil, audit: event)
    result.changed = snapshot.credentials.filter { $0.failures < 7 }.map {
      var credential = $0
      credential.failures += 1
      return credential
    }
    return result
  }

  @Test("an invite's sealed key is deleted with the invite")
  func forgetsInvites() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let storage = try Storage(.file(path))
    try await storage.addUser(UserRecord(id: "alice", created: 1), audit: Self.event)
    let kept: @Sendable () throws -> [Int64] = {
      try Database(path: path).query(
        "SELECT length(sealed_invite_key) AS length FROM activations ORDER BY id"
      )
      .map { try $0.integer("length") }
    }
    for id in ["a", "b"] as [ID<ActivationRecord>] {
      let activation = ActivationRecord(
        id: id, user: "alice", sealedInviteKey: [1, 2, 3], salt: [4], memoryKiB: 1, passes: 1, lanes: 1,
        profile: [], created: 1, expires: 100)
      try await storage.addActivation(activation, audit: Self.event)
    }
    #expect(try kept() == [0, 3], "the first was replaced")
    let suspended = try await storage.suspendUser(
      "alice", reason: "", subject: "~new", at: 2, audit: Self.event
    ) { _ in
      Self.event
    }
    #expect(suspended == .changed)
    #expect(try kept() == [0, 0])
  }

  @Test(
    "an invalid state is neither an acceptance nor open to another app",
    arguments: ["pushauth_mechanisms", "pushauth_messages"])
  func refusesUnknownStates(_ table: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let storage = try Storage(.file(path))
    try await storage.addUser(UserRecord(id: "alice", created: 1), audit: Self.event)
    let mechanism = PushAuthMechanismRecord(
      id: "m", user: "alice", sealedSecret: [1], challenge: [2], created: 1, expires: 100)
    try await storage.addPushAuthMechanism(mechanism, with: nil, audit: Self.event)
    #expect(
      try await storage.registerPushAuthMechanism(
        "m", named: "app", sealedDevice: [3], at: 2, audit: Self.event))
    let message = PushAuthMessageRecord(
      id: "a", of: "t", mechanism: "m", kind: "default", challenge: [4], created: 2, expires: 100)
    #expect(try await storage.ask(message, of: "alice", limits: TransactionLimits()) == .added)
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
    let storage = try Storage.open(.file(folder.path + "/signet.sqlite")) { sql in
      if sql == "COMMIT" { gate.pass() }
    }
    // The first commit is held until the others wait behind it. They then need one commit, or a second if some came while it
    // began.
    let first = Task { try await storage.append(Self.event) }
    await gate.waitUntilReached()
    let others = (0..<200).map { _ in Task { try await storage.append(Self.event) } }
    while storage.waitingChangeCount < 200 { await Task.yield() }
    gate.open()
    try await first.value
    for task in others { try await task.value }
    #expect(storage.commitCount == 2)
    #expect(try await storage.auditEntries(after: 0, limit: 1000).count == 201)
  }

  @Test("an event names no device of a user who was deleted before it in the same commit")
  func forgetsTheDevice() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let before = try Storage(.file(path))
    try await before.addUser(UserRecord(id: "alice", created: 1), audit: Self.event)
    let activation = ActivationRecord(
      id: "a", user: "alice", sealedInviteKey: [1], salt: [2], memoryKiB: 1, passes: 1, lanes: 1,
      profile: [3], created: 1, expires: 1000)
    try await before.addActivation(activation, audit: Self.event)
    let container = ContainerRecord(
      id: "c", user: "alice", activation: "a", device: [4], name: "", platform: "", keystore: "software",
      sessionKey: [5], encryptionKey: [6], signingKey: [7], profile: [8], created: 3)
    let codes = CredentialRecord(
      id: "c", user: "alice", kind: .totp, algorithm: "SHA256", digits: 6, period: 30, sealedSecret: [9],
      created: 3)
    _ = try await before.finishActivation(
      "a", container: NewContainer(container, codes), limit: 5, at: 4
    ) { _ in nil }
    let activated = try await before.confirmContainer(
      "c", at: 5, audit: { _ in Self.event }, lost: { _ in Self.event })
    #expect(activated == .activated)
    await before.close()
    let gate = Gate()
    let storage = try Storage.open(.file(path)) { sql in
      if sql == "COMMIT" { gate.pass() }
    }
    // The others wait behind the first commit, in this order, and need one commit together.
    let first = Task { try await storage.append(Self.event) }
    await gate.waitUntilReached()
    let asked = Task {
      try await storage.append(AuditRecord(.containerRenewalRequested(container: "c"), by: .local, at: 6))
    }
    while storage.waitingChangeCount < 1 { await Task.yield() }
    let deleted = Task {
      try await storage.deleteUser("alice", subject: "~new", at: 7, audit: Self.event) { _ in Self.event }
    }
    while storage.waitingChangeCount < 2 { await Task.yield() }
    let revoked = Task {
      try await storage.append(AuditRecord(.containerRevoked(container: "c"), by: .local, at: 8))
    }
    while storage.waitingChangeCount < 3 { await Task.yield() }
    gate.open()
    for task in [first, asked, revoked] { try await task.value }
    #expect(try await deleted.value == .changed)
    #expect(storage.commitCount == 2)
    let entries = try await storage.auditEntries(after: 0, limit: 1000).map(\.text)
    let named = entries.filter { $0.contains("container.re") }.map { $0.contains("\"device\"") }
    #expect(named == [true, false])
    await storage.close()
  }

  @Test("changed event receivers apply from the next step on, also within a commit")
  func readsListenersAgain() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    let (old, new) = (OutboxReceiver(.securityEvents, "old"), OutboxReceiver(.securityEvents, "new"))
    let before = try Storage(.file(path))
    try await before.addUser(UserRecord(id: "alice", created: 1), audit: Self.event)
    try await before.addOutboxReceiver(old, lifetime: 100)
    await before.close()
    let gate = Gate()
    let storage = try Storage.open(.file(path)) { sql in
      if sql == "COMMIT" { gate.pass() }
    }
    let suspend: @Sendable (Int64) async throws -> Void = { time in
      try await storage.append(AuditRecord(.userSuspended(user: "alice", reason: ""), by: .local, at: time))
    }
    let steps: [@Sendable () async throws -> Void] = [
      { try await suspend(6) }, { _ = try await storage.removeOutboxReceiver(old) },
      { try await suspend(7) }, { try await storage.addOutboxReceiver(new, lifetime: 100) },
      { try await suspend(8) },
    ]
    // They wait behind the first commit, in this order, and need one commit together.
    let first = Task { try await storage.append(Self.event) }
    await gate.waitUntilReached()
    var tasks: [Task<Void, any Error>] = []
    for step in steps {
      tasks.append(Task { try await step() })
      while storage.waitingChangeCount < tasks.count { await Task.yield() }
    }
    gate.open()
    for task in [first] + tasks { try await task.value }
    #expect(storage.commitCount == 2)
    let due = try await storage.dueDeliveries(on: .securityEvents, at: .max, limitPerReceiver: 10)
    #expect(due.map(\.receiver) == [new])
    #expect(due.map(\.created) == [8])
    await storage.close()
  }

  @Test("a failed change in a shared commit undoes only itself")
  func undoesOneChangeOfACommit() async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage(.file(folder.path + "/signet.sqlite"))
    let outcomes = await withTaskGroup(of: StorageFailure?.self) { group in
      for number in 0..<50 {
        group.addTask {
          do throws(StorageFailure) {
            // Every ID twice: one of each pair fails in the middle of a commit.
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
    try await Storage(.file(path)).close()
    try Database(path: path).execute(script: "UPDATE schema_version SET version = 99")
    let failure = #expect(throws: StorageFailure.self) { try Storage(.file(path)) }
    guard case .tooNew(found: 99, _) = failure else {
      Issue.record("another failure: \(String(describing: failure))")
      return
    }
  }

  @Test("a database of version 0.1 is refused by name and left unchanged")
  func refusesVersion01() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    try Database(path: path).execute(
      script: "CREATE TABLE users (id TEXT PRIMARY KEY NOT NULL) STRICT; PRAGMA user_version = 19")
    let before = try Data(contentsOf: URL(filePath: path))
    #expect(throws: StorageFailure.otherTables) { try Storage(.file(path)) }
    #expect(try Data(contentsOf: URL(filePath: path)) == before)
  }

  @Test func refusesWhatIsNoDatabase() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/signet.sqlite"
    #expect(throws: StorageFailure.readOnly) { try Storage(.file(folder.path + "/none/signet.sqlite")) }
    try Data("this is no database, whatever its name says".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: StorageFailure.self) { try Storage(.file(path)) }
  }

  @Test func keepsTheFilePrivate() async throws {
    let folder = try TemporaryFolder()
    let storage = try Storage(.file(folder.path + "/signet.sqlite"))
    try await storage.append(Self.event)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }
}

/// A gate that holds its first visitor until it is opened.
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
