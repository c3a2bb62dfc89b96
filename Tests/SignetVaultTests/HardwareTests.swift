import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import Synchronization
import Testing

import SignetVault

@Suite("Hardware guess limits and counters", .timeLimit(.minutes(10)))
struct HardwareTests {
  private let fixture: VaultFixture
  private let hardware = SimulatedHardware()
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open(keystore: hardware)
  }

  /// Copies the current folder.
  private func copy(_ name: String) throws -> String {
    let photographer = Photographer(of: fixture.directory, into: fixture.folder.file(name))
    photographer.take()
    return try #require(photographer.folders.first)
  }

  private func attempt(_ vault: Vault, _ id: LocalContainerID, _ password: String = "no") async
    -> VaultFailure?
  {
    await #expect(throws: VaultFailure.self) { try await vault.signingKey(of: id, password) }
  }

  @Test("a vault on hardware works and reports the hardware")
  func works() async throws {
    let id = try await vault.addContainer(.sample())
    try await vault.confirmContainer(id)
    #expect(vault.keystoreKind == .tpm2)
    #expect(try await vault.domains(of: id).map(\.keystore) == [.tpm2, .tpm2])
    #expect(await attempt(vault, id) == .wrongPassword(remaining: 4))
    #expect(try await vault.signingKey(of: id) == "signing key")
    #expect(await attempt(vault, id) == .wrongPassword(remaining: 4))
    #expect(try await fixture.open(keystore: hardware).signingKey(of: id) == "signing key")
  }

  @Test("an older copy of the folder is detected at opening, after any later change")
  func olderCopy() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3)))
    var copies = [try copy("after-adding")]
    #expect(await attempt(vault, id) == .wrongPassword(remaining: 2))
    copies.append(try copy("after-an-attempt"))
    try await vault.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    copies.append(try copy("after-a-change"))
    try await vault.deleteContainer(id)
    for folder in copies {
      let failure = #expect(throws: VaultFailure.self) {
        try VaultFixture.open(folder, keystore: hardware)
      }
      guard case .rolledBack(let found, let expected)? = failure else {
        Issue.record("\(folder): \(String(describing: failure))")
        continue
      }
      #expect(found < expected)
      #expect(failure?.description.contains("older copy") == true)
    }
    _ = try fixture.open(keystore: hardware)
  }

  @Test("a copy restored under an open vault gives no further guess")
  func copyUnderOpenVault() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
    let row = try #require(
      try fixture.rawDatabase().query(
        "SELECT failed, mac, last_boot, last_since_boot FROM slot WHERE kind = 2"
      ).first)
    let generation = try #require(try fixture.rawDatabase().query("SELECT number, mac FROM generation").first)
    let parts = try fixture.rawDatabase().query("SELECT digest, owner, name FROM part")
    #expect(await attempt(vault, id) == .wrongPassword(remaining: 1))
    // All parts are authentic and consistent.
    for part in parts {
      try fixture.rawDatabase().execute(
        "UPDATE part SET digest = ? WHERE owner = ? AND name = ?", [part[0], part[1], part[2]])
    }
    try fixture.rawDatabase().execute(
      "UPDATE slot SET (failed, mac, last_boot, last_since_boot) = (?, ?, ?, ?) WHERE kind = 2",
      [row[0], row[1], row[2], row[3]])
    try fixture.rawDatabase().execute(
      "UPDATE generation SET (number, mac) = (?, ?)", [generation[0], generation[1]])
    let before = fixture.tryCount
    guard case .rolledBack? = await attempt(vault, id) else {
      Issue.record("the older state was not noticed")
      return
    }
    #expect(fixture.tryCount == before, "nothing was tried")
    try fixture.rawDatabase().execute("UPDATE generation SET number = number + 5")
    #expect(await attempt(vault, id) == .altered(.vault))
  }

  @Test("with guess limits but no counter, an older copy opens but gives no further guess")
  func limitAlone() async throws {
    let limiting = LimitOnly(hardware: hardware)
    let other = try VaultFixture()
    let vault = try other.open(keystore: limiting)
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3)))
    let photographer = Photographer(of: other.directory, into: other.folder.file("copy"))
    photographer.take()
    photographer.take()
    #expect(await attempt(vault, id) == .wrongPassword(remaining: 2))
    let copies = try photographer.folders.map { try VaultFixture.open($0, keystore: limiting) }
    #expect(
      await attempt(copies[0], id) == .wrongPassword(remaining: 1), "the file says 2, the hardware knows")
    #expect(await attempt(copies[1], id) == .wrongPassword(remaining: 0))
    for vault in copies + [vault] { #expect(await attempt(vault, id, VaultFixture.password) == .lockedOut) }
  }

  @Test("already locked hardware also erases if the policy requires it")
  func limitWipes() async throws {
    let other = try VaultFixture()
    let limiting = LimitOnly(hardware: hardware)
    let vault = try other.open(keystore: limiting)
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 1, atLimit: .wipe)))
    let photographer = Photographer(of: other.directory, into: other.folder.file("copy"))
    photographer.take()
    #expect(await attempt(vault, id) == .wiped(domain: "keys"))
    let copy = try VaultFixture.open(try #require(photographer.folders.first), keystore: limiting)
    // The erased slot's hardware location was released, so the copy's secret is lost.
    #expect(await attempt(copy, id, VaultFixture.password) == .keystore(.countGone))
  }

  @Test(
    "without a counter advance no attempt is made or counted, and the next attempt catches up")
  func cannotCount() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3, atLimit: .wipe)))
    hardware.fail(.counting, with: .busy)
    #expect(await attempt(vault, id) == .keystore(.busy))
    #expect(fixture.tryCount == 0)
    #expect(
      await attempt(vault, id) == .wrongPassword(remaining: 2), "what failed before the disk was not counted")
    let isDerived = Mutex(false)
    let failing = try fixture.open(
      keystore: hardware,
      willExecute: { [hardware] (sql) throws(SQLiteFailure) in
        // The last statement before the commit of the count; the hardware counts next.
        guard sql.hasPrefix("INSERT OR REPLACE INTO generation") else { return }
        let isCount = isDerived.withLock { isDerived in
          defer { isDerived = false }
          return isDerived
        }
        if isCount { hardware.fail(.counting, with: .noAnswer) }
      }, onDerivation: { isDerived.withLock { $0 = true } })
    let tried = fixture.tryCount
    for password in [VaultFixture.password, "no", VaultFixture.password] {
      #expect(await attempt(failing, id, password) == .keystore(.noAnswer))
    }
    #expect(fixture.tryCount == tried)
    #expect(
      try await vault.domains(of: id).first?.attempts == .allowed(remaining: 2), "not tried, and taken back")
    #expect(try await fixture.open(keystore: hardware).signingKey(of: id) == "signing key")
  }

  @Test("unresponsive hardware costs no attempt and erases nothing")
  func unansweredTries() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3, atLimit: .wipe)))
    #expect(await attempt(vault, id) == .wrongPassword(remaining: 2))
    for failure in [KeystoreFailure.busy, .noAnswer, .busy, .noAnswer] {
      hardware.fail(.unsealing, with: failure)
      #expect(await attempt(vault, id, VaultFixture.password) == .keystore(failure))
      #expect(try await vault.domains(of: id).first?.attempts == .allowed(remaining: 2))
    }
    #expect(await attempt(vault, id) == .wrongPassword(remaining: 1), "a wrong one still counts")
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test(
    "50 concurrent wrong attempts on 10 connections: no more than the limit are tried", arguments: [5, 3, 1])
  func race(limit: Int) async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: limit)))
    let vaults = try (0..<10).map { _ in try fixture.open(keystore: hardware) }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask {
          await #expect(throws: VaultFailure.self) {
            try await vaults[number % 10].signingKey(of: id, "wrong \(number)")
          }
        }
      }
    }
    #expect(fixture.tryCount == limit)
    #expect(await attempt(vault, id, VaultFixture.password) == .lockedOut)
  }

  @Test("two concurrent counts never exceed the stored value")
  func countedTogether() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 5)))
    let (begun, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let other = try fixture.open(keystore: hardware) { (sql) throws(SQLiteFailure) in
      if sql == "BEGIN IMMEDIATE" { begun.signal() }
    }
    let interrupted = try fixture.open(keystore: hardware)
    // The second vault must not be able to make a change between the first one's read of the counter and its increment. So the
    // first waits until the second tries, and some time more.
    let changed = Mutex<Task<LocalContainerID, any Error>?>(nil)
    hardware.interruptCounting {
      changed.withLock {
        $0 = Task.detached {
          defer { done.signal() }
          return try await other.addContainer(.sample(created: 2_000))
        }
      }
      begun.wait()
      _ = done.wait(timeout: .now() + .milliseconds(500))
    }
    #expect(await attempt(interrupted, id) == .wrongPassword(remaining: 4))
    _ = try await changed.withLock(\.self)?.value
    let number = try #require(try fixture.rawDatabase().query("SELECT number FROM generation").first)
    let name = try #require(try fixture.rawDatabase().query("SELECT counter FROM vault").first)
    #expect(try hardware.counterValue(name.blob("counter")) == UInt64(try number.integer("number")))
    #expect(try await fixture.open(keystore: hardware).signingKey(of: id) == "signing key")
  }

  @Test("hardware indices are released, also by the next process after a crash")
  func locations() async throws {
    #expect(hardware.locationCount == 1, "the vault's counter")
    let id = try await vault.addContainer(.sample())
    #expect(hardware.locationCount == 2)
    for (old, new) in [(VaultFixture.password, "a"), ("a", "b")] {
      try await vault.changePassword(
        of: "keys", in: id, from: SecretBytes(old), to: SecretBytes(new), policy: .any)
      #expect(hardware.locationCount == 2)
    }
    hardware.fail(.discarding, with: .busy)
    try await vault.changePassword(
      of: "keys", in: id, from: SecretBytes("b"), to: SecretBytes("c"), policy: .any)
    #expect(hardware.locationCount == 3)
    _ = try fixture.open(keystore: hardware)
    #expect(hardware.locationCount == 2)
    #expect(try await vault.signingKey(of: id, "c") == "signing key")
    try await vault.confirmContainer(id)
    let second = try await vault.addContainer(.sample(created: 2_000))
    try await vault.confirmContainer(second)
    #expect(hardware.locationCount == 2, "that of the container that was replaced is free")
    try await vault.deleteContainer(second)
    #expect(hardware.locationCount == 1)
    let third = try await vault.addContainer(.sample())
    try await vault.discardContainer(third)
    #expect(hardware.locationCount == 1)
  }

  @Test("a change that fails at any statement releases its hardware index")
  func locationsAfterFailures() async throws {
    let id = try await vault.addContainer(.sample())
    let failures = try await fixture.failingEachStatement(keystore: hardware) { vault throws(VaultFailure) in
      try await vault.changePassword(
        of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    } check: { number in
      #expect(hardware.locationCount == 2, "statement \(number)")
      do {
        // A failure after the commit, at the hardware's count, leaves the change in effect; this reverts it.
        try await vault.changePassword(
          of: "keys", in: id, from: SecretBytes("new"), to: SecretBytes(VaultFixture.password), policy: .any)
      } catch VaultFailure.wrongPassword {}
      let key = try await vault.signingKey(of: id)
      #expect(key == "signing key")
    }
    #expect(failures > 15)
    // The last failure was in the release of the old location, after the change; the next opening completes it.
    _ = try fixture.open(keystore: hardware)
    #expect(hardware.locationCount == 2)
    #expect(try await vault.signingKey(of: id, "new") == "signing key")
    let full = try fixture.open(keystore: hardware) { (sql) throws(SQLiteFailure) in
      if sql.hasPrefix("INSERT INTO record") { throw .diskFull(extendedCode: 13) }
    }
    await #expect(throws: VaultFailure.diskFull) { try await full.addContainer(.sample()) }
    #expect(hardware.locationCount == 2)
  }

  @Test("a stored password change takes effect even if the hardware cannot count it yet")
  func uncountedChange() async throws {
    let id = try await vault.addContainer(.sample())
    let recorded = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    let code = try await vault.makeRecoveryCode(for: recorded)
    let failing = try fixture.open(keystore: hardware) { (sql) throws(SQLiteFailure) in
      guard sql.hasPrefix("INSERT INTO slot"), try self.isLocationListed() else { return }
      self.hardware.fail(.counting, with: .busy)
    }
    let changed = try await failing.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    #expect(changed == .keystore(.busy))
    #expect(try await failing.signingKey(of: id, "new") == "signing key")
    #expect(
      try await failing.resetPassword(of: "keys", in: id, with: code, to: SecretBytes("newer"), policy: .any)
        == .keystore(.busy))
    #expect(try await fixture.open(keystore: hardware).signingKey(of: id, "newer") == "signing key")
    // From then on the hardware has counted.
    #expect(
      try await vault.changePassword(
        of: "keys", in: id, from: SecretBytes("newer"), to: SecretBytes("newest"), policy: .any) == nil)
  }

  @Test("a stored accounts' password takes effect even if the hardware cannot count it yet")
  func uncountedProtection() async throws {
    let id = try await vault.makeAccountsContainer(protection: .device, created: 0)
    let failing = try fixture.open(keystore: hardware) { (sql) throws(SQLiteFailure) in
      if sql.hasPrefix("INSERT INTO slot") { self.hardware.fail(.counting, with: .busy) }
    }
    let open = try await failing.open(Vault.accountsDomain, of: id, with: .device)
    let protection = DomainDraft.Protection.password(
      SharedSecretBox(VaultFixture.password), .delay(seconds: 2, counter: 11))
    #expect(try await failing.setProtection(protection, of: open) == .keystore(.busy))
    _ = try await fixture.open(keystore: hardware).open(
      Vault.accountsDomain, of: id, with: .password(SecretBytes(VaultFixture.password)))
  }

  @Test("a forged entry in the list of indices to delete is detected, and its index stays")
  func liveLocationStays() async throws {
    let id = try await vault.addContainer(.sample())
    let raw = try fixture.rawDatabase()
    for sql in ["SELECT sealed_secret FROM slot", "SELECT counter FROM vault", "SELECT x'00'"] {
      try raw.execute(script: "INSERT INTO place (blob) \(sql)")
      #expect(throws: VaultFailure.altered(.vault)) { try fixture.open(keystore: hardware) }
      try raw.execute(script: "DELETE FROM place")
    }
    #expect(hardware.locationCount == 2)
    #expect(try await fixture.open(keystore: hardware).signingKey(of: id) == "signing key")
  }

  @Test("an index without a stored slot is deleted at the next opening, not during creation")
  func locationOfNoSlot() async throws {
    let id = try await vault.addContainer(.sample())
    for _ in 0..<2 {
      let isDead = Recorder<Bool>()
      let dying = try fixture.open(keystore: hardware) { (sql) throws(SQLiteFailure) in
        if sql.hasPrefix("INSERT INTO slot"), try self.isLocationListed() { isDead.record(true) }
        if !isDead.entries.isEmpty, sql != "ROLLBACK" { throw .diskFull(extendedCode: 13) }
      }
      await #expect(throws: VaultFailure.diskFull) {
        try await dying.changePassword(
          of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
      }
      #expect(hardware.locationCount == 3, "taken for a slot that is not there")
      do {
        let lock = try FolderLock("\(fixture.directory)/vault.lock", .shared)
        _ = try fixture.open(keystore: hardware)
        #expect(hardware.locationCount == 3, "somebody is in the middle of making a slot")
        lock?.release()
      }
      _ = try fixture.open(keystore: hardware)
      #expect(hardware.locationCount == 2)
    }
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  private func isLocationListed() throws(SQLiteFailure) -> Bool {
    let database = try Database(path: fixture.databasePath, mode: .readWrite)
    return try !database.query("SELECT 1 FROM place").isEmpty
  }

  @Test("a replaced or used recovery code opens no older copy")
  func olderRecoveryCode() async throws {
    let id = try await vault.addContainer(.sample())
    func unlocked() async throws -> UnlockedDomain {
      try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    }
    let lost = try await vault.makeRecoveryCode(for: unlocked())
    let beforeRenewal = try copy("before-renewal")
    let code = try await vault.makeRecoveryCode(for: unlocked())
    await #expect(throws: VaultFailure.wrongRecoveryCode) {
      _ = try await vault.open("keys", of: id, with: .recovery(lost))
    }
    let beforeUse = try copy("before-use")
    _ = try await vault.open("keys", of: id, with: .recovery(code))
    for folder in [beforeRenewal, beforeUse] {
      let failure = #expect(throws: VaultFailure.self) {
        try VaultFixture.open(folder, keystore: hardware)
      }
      guard case .rolledBack? = failure else {
        Issue.record("\(folder): \(String(describing: failure))")
        continue
      }
    }
    // Restored in a vault that is open.
    let source = try Database(path: "\(beforeRenewal)/vault.sqlite", mode: .readWrite)
    let raw = try fixture.rawDatabase()
    for (table, columns) in [
      ("slot", 13), ("part", 3), ("generation", 3), ("container", 13), ("record", 4),
    ] {
      try raw.execute(script: "DELETE FROM \(table)")
      let marks = Array(repeating: "?", count: columns).joined(separator: ", ")
      for row in try source.query("SELECT * FROM \(table)") {
        try raw.execute("INSERT INTO \(table) VALUES (\(marks))", (0..<columns).map { row[$0] })
      }
    }
    let failure = await #expect(throws: VaultFailure.self) {
      _ = try await vault.open("keys", of: id, with: .recovery(lost))
    }
    guard case .rolledBack? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("a vault from before the version upgrade is detected as an older copy")
  func upgradeTakesANumber() async throws {
    let id = try await vault.addContainer(.sample())
    try downgrade()
    let old = try copy("version-2")
    let upgraded = try fixture.open(keystore: hardware)
    #expect(try await upgraded.signingKey(of: id) == "signing key")
    let failure = #expect(throws: VaultFailure.self) { try VaultFixture.open(old, keystore: hardware) }
    guard case .rolledBack? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  /// Changes the file to that of a version 2 program.
  private func downgrade() throws {
    let raw = try fixture.rawDatabase()
    let row = try #require(try raw.query("SELECT * FROM vault").first)
    let vault = try row.blob("vault")
    var context = CanonicalBytes("signet vault key v1")
    context.append(vault)
    let key = try hardware.unseal(try row.blob("sealed_key"), context: context.bytes)
    let seal = RowSeal(vault: Identifier(unchecked: vault), vaultKey: key)
    var identity = CanonicalBytes("vault")
    identity.append(try row.blob("device"))
    identity.append(try row.text("keystore"))
    identity.append(try row.blob("sealed_key"))
    identity.append(try row.blob("counter"))
    try raw.execute("UPDATE vault SET mac = ?", .blob(seal.code(identity)))
    var generation = CanonicalBytes("generation")
    generation.append(try #require(try raw.query("SELECT number FROM generation").first).integer("number"))
    try raw.execute("UPDATE generation SET mac = ?", .blob(seal.code(generation)))
    try raw.execute(
      script: """
        DROP TABLE part; DROP TABLE notice; DROP TABLE place; CREATE TABLE retired (blob BLOB NOT NULL) STRICT;
        PRAGMA user_version = 2
        """)
  }

  @Test(
    "locks without a limit and silent ones use no hardware index",
    arguments: [LockPolicy.none, .silent, .delay(seconds: 1, counter: 2)])
  func noLocation(_ lock: LockPolicy) async throws {
    _ = try await vault.addContainer(.sample(lock: lock))
    #expect(hardware.locationCount == 1)
  }

  @Test("lost credentials are detected at the start, and distinguished from unreachable hardware")
  func lost() async throws {
    let id = try await vault.addContainer(.sample())
    #expect(try await vault.lostSlots().isEmpty)
    hardware.fail(.unsealing, with: .busy)
    await #expect(throws: VaultFailure.keystore(.busy)) { try await vault.lostSlots() }
    hardware.clearLimits()
    let lost = try await vault.lostSlots()
    #expect(lost.map(\.slot) == [.password])
    #expect(lost.first?.container == id)
    #expect(lost.first?.failure == .countGone)
    #expect(try await vault.sessionKey(of: id) == "session key")
    hardware.clear()
    #expect(try await vault.lostSlots().map(\.slot) == [.password, .device])
    let failure = #expect(throws: VaultFailure.self) { try fixture.open(keystore: hardware) }
    guard case .keystore(let keystore)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(keystore.remedy == .registerAnew)
  }

  @Test(
    "a vault that lost its generation, or its counter's name, is altered",
    arguments: [
      "DELETE FROM generation", "UPDATE vault SET counter = NULL", "UPDATE vault SET counter = x'03'",
    ])
  func strippedCounter(_ sql: String) async throws {
    _ = try await vault.addContainer(.sample())
    try fixture.rawDatabase().execute(script: sql)
    #expect(throws: VaultFailure.altered(.vault)) { try fixture.open(keystore: hardware) }
  }

  @Test("another kind of keystore is refused by name")
  func otherKind() throws {
    #expect(throws: VaultFailure.otherKeystore(found: .tpm2, expected: .software)) { try fixture.open() }
  }
}

/// The hardware without its counters.
private struct LimitOnly: GuessLimitingKeystore {
  let hardware: SimulatedHardware
  var kind: KeystoreKind { hardware.kind }

  func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
    try hardware.seal(secret, context: context)
  }
  func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
    try hardware.unseal(blob, context: context)
  }
  func chooseLocation() throws(KeystoreFailure) -> [UInt8] { try hardware.chooseLocation() }
  func seal(
    _ secret: borrowing SecretBytes, context: [UInt8], authorization: borrowing SecretBytes, limit: Int,
    at location: [UInt8]
  ) throws(KeystoreFailure) -> [UInt8] {
    try hardware.seal(secret, context: context, authorization: authorization, limit: limit, at: location)
  }
  func unseal(
    _ blob: [UInt8], context: [UInt8], authorization: borrowing SecretBytes
  ) throws(KeystoreFailure) -> GuessOutcome {
    try hardware.unseal(blob, context: context, authorization: authorization)
  }
  func guessesLeft(_ blob: [UInt8]) throws(KeystoreFailure) -> Int { try hardware.guessesLeft(blob) }
  func discard(_ blob: [UInt8]) throws(KeystoreFailure) { try hardware.discard(blob) }
}
