import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Delays after wrong passwords", .timeLimit(.minutes(10)))
struct WaitTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private static let year: Int64 = 365 * 86_400

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  private func attempt(_ id: LocalContainerID, _ password: String = "no") async -> VaultFailure? {
    await #expect(throws: VaultFailure.self) { try await vault.signingKey(of: id, password) }
  }

  @Test(
    "waits of 0, 0, 60 and 180 s, then locked at the fifth failure; no attempt during a wait")
  func coolDown() async throws {
    let id = try await vault.addContainer(.sample(lock: .fiveAttempts))
    let before = fixture.derivationCount
    for remaining in [4, 3, 2] { #expect(await attempt(id) == .wrongPassword(remaining: remaining)) }
    for _ in 0..<20 {
      #expect(await attempt(id, VaultFixture.password) == .waiting(.seconds(60), remaining: 2))
    }
    #expect(fixture.derivationCount - before == 3)
    #expect(
      try await vault.domains(of: id).first?.status
        == .lastAttemptFailed(remaining: 2, retryAfter: .seconds(60)))
    fixture.clock.advance(by: .milliseconds(59_999))
    #expect(await attempt(id) == .waiting(.milliseconds(1), remaining: 2))
    fixture.clock.advance(by: .milliseconds(1))
    #expect(await attempt(id) == .wrongPassword(remaining: 1))
    #expect(await attempt(id) == .waiting(.seconds(180), remaining: 1))
    fixture.clock.advance(by: .seconds(180))
    #expect(await attempt(id) == .wrongPassword(remaining: 0))
    #expect(await attempt(id, VaultFixture.password) == .lockedOut)
    #expect(fixture.derivationCount - before == 5)
  }

  @Test("a delay doubles up to its maximum, never locks, and a success resets it")
  func delay() async throws {
    let id = try await vault.addContainer(.sample(lock: .delay(seconds: 2, counter: 3)))
    for wait in [2, 4, 8, 8, 8] {
      #expect(await attempt(id) == .wrongPassword(remaining: nil))
      #expect(await attempt(id) == .waiting(.seconds(wait), remaining: nil))
      fixture.clock.advance(by: .seconds(wait))
    }
    #expect(try await vault.signingKey(of: id) == "signing key")
    #expect(await attempt(id) == .wrongPassword(remaining: nil))
    #expect(await attempt(id) == .waiting(.seconds(2), remaining: nil))
  }

  @Test("neither clock changes nor restarts of machine or process shorten a wait")
  func neverShorter() async throws {
    let id = try await vault.addContainer(.sample(lock: .coolDown(waits: [3600])))
    #expect(await attempt(id) == .wrongPassword(remaining: 1))
    for years in [10, -20, 30, -40, 50] as [Int64] {
      fixture.clock.adjustWallClock(by: years * Self.year)
      #expect(await attempt(id) == .waiting(.seconds(3600), remaining: 1))
    }
    fixture.clock.advance(by: .seconds(1800))
    #expect(await attempt(id) == .waiting(.seconds(1800), remaining: 1))
    // After a restart the wait begins again, since the time that the machine was off is unknown.
    fixture.clock.reboot(uptime: .seconds(0))
    #expect(await attempt(id) == .waiting(.seconds(3600), remaining: 1))
    fixture.clock.adjustWallClock(by: Self.year)
    let again = try fixture.open()
    let failure = await #expect(throws: VaultFailure.self) { try await again.signingKey(of: id) }
    #expect(failure == .waiting(.seconds(3600), remaining: 1))
    fixture.clock.advance(by: .seconds(3600))
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test("an attempt interrupted after its count stays counted, and its wait begins then")
  func killed() async throws {
    let id = try await vault.addContainer(.sample(lock: .coolDown(waits: [60])))
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = fixture.directory as String, id = id.description as String] in
      let vault = try VaultFixture.open(directory, onTry: { kill(getpid(), SIGKILL) })
      _ = try await vault.signingKey(of: try #require(LocalContainerID(id)))
    }
    #expect(await attempt(id, VaultFixture.password) == .waiting(.seconds(60), remaining: 1))
  }

  @Test("at the limit the domain is erased, also from the files, and a receipt remains")
  func wipe() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 2, atLimit: .wipe)))
    try await vault.confirmContainer(id)
    let sealed = try fixture.rawDatabase().query(
      """
      SELECT sealed AS bytes FROM record WHERE domain = 'keys' UNION ALL SELECT wrapped_key FROM slot WHERE domain = 'keys'
      UNION ALL SELECT sealed_secret FROM slot WHERE domain = 'keys'
      """
    ).map { try $0.blob("bytes") }
    #expect(sealed.count == 4)
    #expect(await attempt(id) == .wrongPassword(remaining: 1))
    #expect(try await vault.wipeReceipts().isEmpty)
    #expect(await attempt(id) == .wiped(domain: "keys"))
    let files = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath + $0)) }
    for bytes in sealed { #expect(!files.contains { $0.range(of: Data(bytes)) != nil }) }
    #expect(await attempt(id, VaultFixture.password) == .wiped(domain: "keys"))
    let receipts = try await fixture.open().wipeReceipts()
    let receipt = try #require(receipts.first)
    #expect(receipts.count == 1)
    #expect(receipt.container == id && receipt.domain == "keys")
    #expect(receipt.wipedAt == fixture.clock.now.wallSeconds)
    #expect(receipt.failedCount == 2)
    #expect(try await vault.sessionKey(of: id) == "session key", "the server can still be told")
    try await vault.deleteContainer(id)
    #expect(try await vault.wipeReceipts().isEmpty)
  }

  @Test("after a kill between the last attempt and the erasure, the next attempt erases")
  func killedBeforeWipe() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 1, atLimit: .wipe)))
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = fixture.directory as String, id = id.description as String] in
      let vault = try VaultFixture.open(directory, onTry: { kill(getpid(), SIGKILL) })
      _ = try await vault.signingKey(of: try #require(LocalContainerID(id)))
    }
    #expect(try fixture.rawDatabase().query("SELECT 1 FROM record WHERE domain = 'keys'").count == 2)
    #expect(await attempt(id, VaultFixture.password) == .wiped(domain: "keys"))
    #expect(try fixture.rawDatabase().query("SELECT 1 FROM record WHERE domain = 'keys'").isEmpty)
    #expect(try await vault.wipeReceipts().map(\.failedCount) == [1])
  }

  @Test("external changes of the last attempt, the password's times and a receipt are detected")
  func authenticated() async throws {
    let raw = try fixture.rawDatabase()
    let id = try await vault.addContainer(.sample(lock: .fiveAttempts))
    for _ in 0..<3 { _ = await attempt(id) }
    for change in [
      "last_since_boot = 0", "last_since_boot = NULL", "last_boot = x'00'",
      "last_boot = NULL, last_since_boot = NULL",
      "set_at = 0", "is_initial = 0", "seen_at = 0", "set_at = NULL, is_initial = NULL, seen_at = NULL",
    ] {
      try raw.execute(
        script: "CREATE TEMP TABLE kept AS SELECT * FROM slot; UPDATE slot SET \(change) WHERE kind = 2")
      #expect(await attempt(id) == .altered(.slot(id, domain: "keys")), "\(change)")
      try raw.execute(script: "DELETE FROM slot; INSERT INTO slot SELECT * FROM kept; DROP TABLE kept")
    }
    #expect(await attempt(id) == .waiting(.seconds(60), remaining: 2))
    let wiped = try await vault.addContainer(
      .sample(.sample(user: "bob"), lock: .lock(limit: 1, atLimit: .wipe)))
    _ = await attempt(wiped)
    try raw.execute(script: "UPDATE receipt SET failed = 100")
    await #expect(throws: VaultFailure.altered(.container(wiped))) { try await vault.wipeReceipts() }
  }
}
