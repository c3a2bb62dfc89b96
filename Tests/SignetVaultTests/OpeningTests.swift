import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTestKit
import SignetVault
import Testing

@Suite("Opening domains, and counting attempts", .timeLimit(.minutes(10)))
struct OpeningTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  @Test("the correct password opens, a wrong one reports the remaining attempts, a success resets")
  func counting() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 3)))
    for _ in 0..<2 {
      await #expect(throws: VaultFailure.wrongPassword(remaining: 2)) {
        try await vault.signingKey(of: id, "no")
      }
      await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
        try await vault.signingKey(of: id, "no")
      }
      #expect(
        try await vault.domains(of: id).map(\.attempts) == [.allowed(remaining: 1), .allowed(remaining: nil)])
      #expect(try await vault.signingKey(of: id) == "signing key")
      #expect(
        try await vault.domains(of: id).map(\.attempts) == [.allowed(remaining: 3), .allowed(remaining: nil)])
    }
  }

  @Test("at the limit the correct password is refused unverified, also by the next process")
  func lockedOut() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
    let before = fixture.derivationCount
    await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
      try await vault.signingKey(of: id, "a")
    }
    await #expect(throws: VaultFailure.wrongPassword(remaining: 0)) {
      try await vault.signingKey(of: id, "b")
    }
    for vault in [vault, try fixture.open()] {
      await #expect(throws: VaultFailure.lockedOut) { try await vault.signingKey(of: id) }
      #expect(try await vault.domains(of: id).first?.attempts == .lockedOut)
    }
    #expect(fixture.derivationCount - before == 2)
    #expect(try await vault.sessionKey(of: id) == "session key", "the device's own domain stays open")
  }

  @Test("without a lock policy attempts are unlimited")
  func unlimited() async throws {
    let id = try await vault.addContainer(.sample(lock: .none))
    for _ in 0..<10 {
      await #expect(throws: VaultFailure.wrongPassword(remaining: nil)) {
        try await vault.signingKey(of: id, "no")
      }
    }
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test(
    "50 concurrent wrong attempts: no more than the limit are tried, then the correct one is refused",
    arguments: [5, 3, 1])
  func racingTasks(limit: Int) async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: limit)))
    let vaults = try (0..<10).map { _ in try fixture.open() }
    let outcomes = await withTaskGroup(of: VaultFailure?.self, returning: [VaultFailure?].self) { group in
      for number in 0..<50 {
        group.addTask {
          await #expect(throws: VaultFailure.self) {
            try await vaults[number % 10].signingKey(of: id, "wrong \(number)")
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(fixture.tryCount == limit)
    #expect(outcomes.count { $0 == .lockedOut } == 50 - limit)
    for remaining in 0..<limit { #expect(outcomes.contains(.wrongPassword(remaining: remaining))) }
    await #expect(throws: VaultFailure.lockedOut) { try await vault.signingKey(of: id) }
    #expect(fixture.tryCount == limit)
  }

  @Test("concurrent processes killed before the result get no additional guess")
  func racingProcesses() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 5))).description
    let directory = fixture.directory
    let log = fixture.folder.file("tries")
    try Data().write(to: URL(fileURLWithPath: log))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<6 {
        group.addTask {
          // Each is killed in the middle of its first attempt, unless it was locked out before.
          let result = await #expect(processExitsWith: .failure) {
            [id = id as String, directory = directory as String, log = log as String] in
            let vault = try VaultFixture.open(
              directory,
              onTry: {
                let descriptor = Foundation.open(log, O_WRONLY | O_APPEND)
                _ = write(descriptor, "x", 1)
                kill(getpid(), SIGKILL)
              })
            guard let id = LocalContainerID(id) else { exit(2) }
            do { _ = try await vault.signingKey(of: id) } catch VaultFailure.lockedOut { exit(3) }
          }
          #expect(result != nil)
        }
      }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: log)).count == 5)
    let container = try #require(LocalContainerID(id))
    await #expect(throws: VaultFailure.lockedOut) { try await vault.signingKey(of: container) }
  }

  @Test("the count is on the disk before the password is tried, and not while the key is derived")
  func countedBefore() async throws {
    let seen = Recorder<String>()
    let path = fixture.databasePath
    @Sendable func look(_ moment: String) {
      do {
        let database = try Database(path: path, mode: .readOnly)
        let row = try database.query("SELECT failed FROM slot WHERE kind = 2").first
        seen.record("\(moment) \(try row?.integer("failed") ?? -1)")
      } catch { seen.record("\(error)") }
    }
    let vault = try fixture.open(onDerivation: { look("derived") }, onTry: { look("tried") })
    let id = try await vault.addContainer(.sample())
    #expect(seen.entries == ["derived -1"], "nothing is there while it is made")
    #expect(try await vault.signingKey(of: id) == "signing key")
    #expect(seen.entries.dropFirst() == ["derived 0", "tried 1"])
    look("opened")
    #expect(seen.entries.last == "opened 0")
  }

  @Test("no attempt is made on a full or read-only disk")
  func cannotCount() async throws {
    let id = try await vault.addContainer(.sample())
    let failing = try fixture.open { (sql) throws(SQLiteFailure) in
      if sql.hasPrefix("INSERT INTO slot") { throw .diskFull(extendedCode: 13) }
    }
    await #expect(throws: VaultFailure.diskFull) { try await failing.signingKey(of: id) }
    #expect(fixture.tryCount == 0)
  }

  @Test("passwords are compared after normalization and case-sensitively")
  func normalization() async throws {
    var draft = ContainerDraft.sample()
    draft.domains[1].protection = .password(SharedSecretBox("caf\u{E9} \u{212B}"), .none)
    let id = try await vault.addContainer(draft)
    #expect(try await vault.signingKey(of: id, "cafe\u{301} \u{C5}") == "signing key")
    #expect(try await vault.signingKey(of: id, "caf\u{E9}\u{A0}A\u{30A}") == "signing key")
    await #expect(throws: VaultFailure.wrongPassword(remaining: nil)) {
      try await vault.signingKey(of: id, "Caf\u{E9} \u{212B}")
    }
    await #expect(throws: VaultFailure.unusablePassword(.notUTF8)) {
      _ = try await vault.open("keys", of: id, with: .password(SecretBytes(copying: [0xFF])))
    }
  }

  @Test("each unlock method opens only its own domains")
  func wrongWay() async throws {
    let id = try await vault.addContainer(.sample())
    await #expect(throws: VaultFailure.noSuchSlot(domain: "keys", .device)) {
      _ = try await vault.open("keys", of: id, with: .device)
    }
    await #expect(throws: VaultFailure.noSuchSlot(domain: "session", .password)) {
      _ = try await vault.open("session", of: id, with: .password(SecretBytes("x")))
    }
    await #expect(throws: VaultFailure.noSuchSlot(domain: "none", .device)) {
      _ = try await vault.open("none", of: id, with: .device)
    }
    #expect(
      try await vault.domains(of: id).map { [$0.name, "\($0.slot)", $0.keystore.rawValue] } == [
        ["keys", "password", "software"], ["session", "device", "software"],
      ])
  }

  @Test("costs out of range are neither created nor opened")
  func costs() async throws {
    let id = try await vault.addContainer(.sample())
    // The same vault with the users' minimum cost.
    let strict = try Vault(
      directory: fixture.directory, keystore: SoftwareKeystore(directory: fixture.directory),
      cost: .fixed(VaultFixture.weak))
    await #expect(throws: VaultFailure.costOutOfRange(VaultFixture.weak)) {
      try await strict.signingKey(of: id)
    }
    await #expect(throws: VaultFailure.costOutOfRange(VaultFixture.weak)) {
      try await strict.addContainer(.sample())
    }
    #expect(try await strict.sessionKey(of: id) == "session key", "a device slot has no cost")
    let huge = Argon2id(memoryKiB: 1 << 21, passes: 2, lanes: 1)
    let greedy = try Vault(
      directory: fixture.directory, keystore: SoftwareKeystore(directory: fixture.directory),
      cost: .fixed(huge))
    await #expect(throws: VaultFailure.costOutOfRange(huge)) { try await greedy.addContainer(.sample()) }
  }

  @Test("a calibrated vault uses at least the minimum cost and is measured once")
  func calibration() async throws {
    let vault = try Vault(
      directory: fixture.directory, keystore: SoftwareKeystore(directory: fixture.directory),
      cost: .calibrated(milliseconds: 1))
    let id = try await vault.addContainer(.sample())
    let domain = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    let timing = domain.timing
    #expect(timing.keyDerivation > .zero)
    #expect(timing.total == timing.keyDerivation + timing.overhead)
    #expect(timing.overhead > .zero)
    let header = try #require(try fixture.rawDatabase().query("SELECT header FROM slot WHERE kind = 2").first)
      .blob("header")
    let memory = header[9..<13].reduce(0) { $0 << 8 | Int($1) }
    #expect(memory >= 19 * 1024)
    #expect(header[16] >= 2)
    #expect(PasswordCost.standard == .calibrated(milliseconds: 250))
  }

  @Test("a keystore without its key, or another device's, opens nothing")
  func otherDevice() async throws {
    let id = try await vault.addContainer(.sample())
    let unlocked = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    let code = try await vault.makeRecoveryCode(for: unlocked)
    let key = fixture.folder.file("vault/software-keystore.key")
    try FileManager.default.removeItem(atPath: key)
    await #expect(throws: VaultFailure.keystore(.keyMissing(path: key))) {
      try await vault.sessionKey(of: id)
    }
    await #expect(throws: VaultFailure.keystore(.keyMissing(path: key))) {
      try await vault.signingKey(of: id)
    }
    await #expect(throws: VaultFailure.keystore(.keyMissing(path: key))) {
      _ = try await vault.open("keys", of: id, with: .recovery(code))
    }
    #expect(throws: VaultFailure.keystore(.keyMissing(path: key))) { try fixture.open() }
    _ = try SoftwareKeystore(directory: fixture.directory).seal(SecretBytes("new key"), context: [])
    #expect(throws: VaultFailure.keystore(.refused)) { try fixture.open() }
  }
}

@Suite("Records and counters", .timeLimit(.minutes(10)))
struct RecordTests {
  private let fixture: VaultFixture
  private let vault: Vault

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  @Test("records are read, replaced and added; missing ones are named")
  func records() async throws {
    let id = try await vault.addContainer(.sample())
    let domain = try await vault.open("session", of: id, with: .device)
    #expect(domain.recordNames == ["counter", "key"])
    #expect(domain.name == "session")
    #expect(domain.container == id)
    #expect(domain.openedBy == .device)
    #expect(throws: VaultFailure.noSuchRecord(name: "none")) { try domain.text("none") }
    try await vault.setRecord("key", to: SecretBytes("replaced"), in: domain)
    try await vault.setRecord("more", to: SecretBytes(""), in: domain)
    #expect(try domain.text("key") == "session key", "an open domain is as it was when it was opened")
    let again = try await vault.open("session", of: id, with: .device)
    #expect(again.recordNames == ["counter", "key", "more"])
    #expect(try again.text("key") == "replaced")
    #expect(try again.text("more") == "")
  }

  @Test("a counter never gives a value twice to 50 tasks on 5 connections")
  func counter() async throws {
    let id = try await vault.addContainer(.sample())
    let vaults = try (0..<5).map { _ in try fixture.open() }
    let values = try await withThrowingTaskGroup(of: UInt64.self, returning: [UInt64].self) { group in
      for number in 0..<50 {
        group.addTask {
          let vault = vaults[number % 5]
          let domain = try await vault.open("session", of: id, with: .device)
          return try await vault.advanceCounter("counter", in: domain)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(values.sorted() == Array(41..<91))
  }

  @Test("an invalid, exhausted or missing counter is refused")
  func counterRefusals() async throws {
    let id = try await vault.addContainer(.sample())
    let domain = try await vault.open("session", of: id, with: .device)
    var failure = await #expect(throws: VaultFailure.self) {
      try await vault.advanceCounter("key", in: domain)
    }
    #expect(failure == .notACounter(name: "key"))
    failure = await #expect(throws: VaultFailure.self) { try await vault.advanceCounter("none", in: domain) }
    #expect(failure == .noSuchRecord(name: "none"))
    try await vault.setRecord("end", to: SecretBytes(copying: [UInt8](repeating: 0xFF, count: 8)), in: domain)
    failure = await #expect(throws: VaultFailure.self) { try await vault.advanceCounter("end", in: domain) }
    #expect(failure == .counterExhausted(name: "end"))
    failure = await #expect(throws: VaultFailure.self) {
      try await vault.setRecord("", to: SecretBytes("x"), in: domain)
    }
    #expect(failure == .invalidName)
    try await vault.deleteContainer(id)
    failure = await #expect(throws: VaultFailure.self) {
      try await vault.advanceCounter("counter", in: domain)
    }
    #expect(failure == .noSuchContainer(id))
    failure = await #expect(throws: VaultFailure.self) {
      try await vault.setRecord("key", to: SecretBytes("x"), in: domain)
    }
    #expect(failure == .noSuchContainer(id))
  }
}
