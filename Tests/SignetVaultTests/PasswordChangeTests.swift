import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Changing a password", .timeLimit(.minutes(10)))
struct PasswordChangeTests {
  private let fixture: VaultFixture
  private let vault: Vault
  private static let day: Int64 = 86_400

  init() throws {
    fixture = try VaultFixture()
    vault = try fixture.open()
  }

  private func change(
    _ id: LocalContainerID, _ old: String, _ new: String, _ policy: PasswordPolicy = .any
  ) async throws {
    try await vault.changePassword(
      of: "keys", in: id, from: SecretBytes(old), to: SecretBytes(new), policy: policy)
  }

  @Test("the new password opens, the old one does not, and nothing of the old slot is left in the files")
  func changes() async throws {
    let id = try await vault.addContainer(.sample())
    let raw = try fixture.rawDatabase()
    let query =
      "SELECT wrapped_key AS v FROM slot WHERE kind = 2 UNION ALL SELECT sealed_secret FROM slot WHERE kind = 2"
    let old = try raw.query(query).map { try $0.blob("v") }
    #expect(old.count == 2)
    try await change(id, VaultFixture.password, "another horse")
    #expect(try await vault.signingKey(of: id, "another horse") == "signing key")
    await #expect(throws: VaultFailure.wrongPassword(remaining: 4)) { try await vault.signingKey(of: id) }
    let files = try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: fixture.databasePath + $0)) }
    for bytes in old { #expect(!files.contains { $0.range(of: Data(bytes)) != nil }) }
    #expect(try await fixture.open().signingKey(of: id, "another horse") == "signing key")
  }

  @Test("a wrong old password counts as an attempt, and at the limit the right one is refused")
  func wrongOldPassword() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
    await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
      try await change(id, "no", "another horse")
    }
    await #expect(throws: VaultFailure.wrongPassword(remaining: 0)) {
      try await change(id, "no", "another horse")
    }
    await #expect(throws: VaultFailure.lockedOut) {
      try await change(id, VaultFixture.password, "another horse")
    }
  }

  @Test("a refused new password costs no attempt and changes nothing")
  func refusalsCostNothing() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
    let policy = try PasswordPolicy(minimumLength: 8, maximumLength: 20, maximumHistory: 1)
    for _ in 0..<4 {
      let failure = await #expect(throws: VaultFailure.self) {
        try await change(id, VaultFixture.password, "abc", policy)
      }
      #expect(failure == .passwordRefused([.tooShort(minimum: 8), .sequence]))
      await #expect(throws: VaultFailure.passwordUsedBefore(within: 1)) {
        try await change(id, VaultFixture.password, VaultFixture.password, policy)
      }
    }
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test("an empty password, NUL, invalid UTF-8 and 1 MiB are refused as a new one and as an old one")
  func hostilePasswords() async throws {
    let id = try await vault.addContainer(.sample())
    let hostile: [[UInt8]] = [[], [0x41, 0], [0xFF, 0xFE], [UInt8](repeating: 0x61, count: 1 << 20)]
    for bytes in hostile {
      await #expect(throws: VaultFailure.self) {
        try await vault.changePassword(
          of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes(copying: bytes),
          policy: .any)
      }
      let before = fixture.derivationCount
      let failure = await #expect(throws: VaultFailure.self) {
        _ = try await vault.open("keys", of: id, with: .password(SecretBytes(copying: bytes)))
      }
      guard case .unusablePassword? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
      #expect(fixture.derivationCount == before, "not tried")
    }
    #expect(try await vault.domains(of: id).first?.attempts == .allowed(remaining: 5), "and not counted")
    #expect(try await vault.signingKey(of: id) == "signing key")
  }

  @Test(
    "the initial password may be changed at once, later ones after the minimum age at any clock setting"
  )
  func minimumAge() async throws {
    let id = try await vault.addContainer(.sample())
    let policy = try PasswordPolicy(
      minimumLength: 1, maximumLength: 64, allowsSequences: true, age: PasswordAge(minimumDays: 2))
    try await change(id, VaultFixture.password, "second", policy)
    let until = fixture.clock.now.wallSeconds + 2 * Self.day
    await #expect(throws: VaultFailure.passwordTooYoung(until: until)) {
      try await change(id, "second", "third", policy)
    }
    fixture.clock.adjustWallClock(by: -365 * Self.day)
    await #expect(throws: VaultFailure.passwordTooYoung(until: until)) {
      try await change(id, "second", "third", policy)
    }
    fixture.clock.adjustWallClock(by: 365 * Self.day)
    fixture.clock.advance(by: .seconds(2 * Self.day - 1))
    await #expect(throws: VaultFailure.passwordTooYoung(until: until)) {
      try await change(id, "second", "third", policy)
    }
    fixture.clock.advance(by: .seconds(1))
    try await change(id, "second", "third", policy)
    let times = try #require(try await vault.domains(of: id).first?.password)
    #expect(times.stamp == PasswordStamp(setAt: until, isInitial: false))
  }

  @Test("setting the clock back does not lower a password's age")
  func seenTime() async throws {
    let id = try await vault.addContainer(.sample())
    fixture.clock.adjustWallClock(by: 100 * Self.day)
    #expect(try await vault.signingKey(of: id) == "signing key")
    let seen = fixture.clock.now.wallSeconds
    fixture.clock.adjustWallClock(by: -90 * Self.day)
    #expect(try await vault.signingKey(of: id) == "signing key")
    let times = try #require(try await vault.domains(of: id).first?.password)
    #expect(times.now(fixture.clock.now.wallSeconds) == seen)
    #expect(times.stamp.isInitial)
  }

  @Test("a history of N lets a password return after N others, and not before", arguments: [1, 2, 4])
  func history(_ count: Int) async throws {
    let id = try await vault.addContainer(.sample())
    let policy = try PasswordPolicy(
      minimumLength: 1, maximumLength: 64, allowsSequences: true, maximumHistory: count)
    var current = VaultFixture.password
    for number in 0..<count {
      for earlier in ["correct horse", "p0", "p1", "p2", "p3"].prefix(number + 1) {
        await #expect(throws: VaultFailure.passwordUsedBefore(within: count)) {
          try await change(id, current, earlier, policy)
        }
      }
      try await change(id, current, "p\(number)", policy)
      current = "p\(number)"
    }
    try await change(id, current, VaultFixture.password, policy)
    #expect(try await vault.signingKey(of: id) == "signing key")
    let domain = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    #expect(domain.recordNames == ["counter", "signing"], "the history is no record of the app's")
    #expect(throws: VaultFailure.noSuchRecord(name: " history")) { try domain.text(" history") }
  }

  @Test("without a history the present password may be kept; an altered history is noticed")
  func noHistory() async throws {
    let id = try await vault.addContainer(.sample())
    try await change(id, VaultFixture.password, VaultFixture.password)
    let policy = try PasswordPolicy(
      minimumLength: 1, maximumLength: 64, allowsSequences: true, maximumHistory: 3)
    try await change(id, VaultFixture.password, "second", policy)
    try fixture.rawDatabase().execute("UPDATE record SET sealed = x'00' WHERE name = ' history'")
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) {
      try await change(id, "second", "third", policy)
    }
  }

  @Test("verifying counts like opening and leaves nothing open")
  func verify() async throws {
    let id = try await vault.addContainer(.sample(lock: .lock(limit: 2)))
    try await vault.verifyPassword(SecretBytes(VaultFixture.password), of: "keys", in: id)
    await #expect(throws: VaultFailure.wrongPassword(remaining: 1)) {
      try await vault.verifyPassword(SecretBytes("no"), of: "keys", in: id)
    }
    await #expect(throws: VaultFailure.noSuchSlot(domain: "session", .password)) {
      try await vault.verifyPassword(SecretBytes("no"), of: "session", in: id)
    }
  }

  @Test("of 10 concurrent changes one succeeds, and the others report it")
  func race() async throws {
    let id = try await vault.addContainer(.sample(lock: .none))
    let vaults = try (0..<10).map { _ in try fixture.open() }
    let winners = await withTaskGroup(of: Int?.self, returning: [Int].self) { group in
      for number in 0..<10 {
        group.addTask {
          do throws(VaultFailure) {
            try await vaults[number].changePassword(
              of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new \(number)"),
              policy: .any)
            return number
          } catch {
            #expect(error == .busy || error == .wrongPassword(remaining: nil))
            return nil
          }
        }
      }
      return await group.reduce(into: []) { if let number = $1 { $0.append(number) } }
    }
    #expect(winners.count == 1)
    #expect(try await vault.signingKey(of: id, "new \(winners[0])") == "signing key")
  }

  @Test("a key in its own domain has its own password")
  func perKeyPassword() async throws {
    var draft = ContainerDraft.sample()
    draft.domains.append(
      DomainDraft(
        name: "transfer-key", protection: .password(SharedSecretBox("for transfers"), .lock(limit: 3)),
        records: [RecordDraft(name: "signing", secret: SharedSecretBox("transfer key"))]))
    let id = try await vault.addContainer(draft)
    try await change(id, VaultFixture.password, "another horse")
    let transfer = try await vault.open("transfer-key", of: id, with: .password(SecretBytes("for transfers")))
    #expect(try transfer.text("signing") == "transfer key")
    await #expect(throws: VaultFailure.wrongPassword(remaining: 2)) {
      _ = try await vault.open("transfer-key", of: id, with: .password(SecretBytes("another horse")))
    }
    #expect(try await vault.domains(of: id).map(\.attempts).contains(.allowed(remaining: 5)), "counted apart")
  }
}

extension PasswordPolicy {
  /// A policy that accepts any possible password.
  static var any: PasswordPolicy {
    do { return try PasswordPolicy(minimumLength: 1, maximumLength: 64, allowsSequences: true) } catch {
      preconditionFailure("\(error)")
    }
  }
}
