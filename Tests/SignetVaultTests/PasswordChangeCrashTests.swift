import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite(
  "Crashes during a password change",
  .timeLimit(.minutes(10)))
struct PasswordChangeCrashTests {
  private let fixture: VaultFixture
  private let id: LocalContainerID
  private static let policy = try? PasswordPolicy(
    minimumLength: 1, maximumLength: 64, allowsSequences: true, maximumHistory: 3)

  init() async throws {
    fixture = try VaultFixture()
    let vault = try fixture.open()
    id = try await vault.addContainer(.sample())
    let domain = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
    try await vault.enableBiometrics(for: domain, .simulated(fingers: 1))
  }

  private func change(_ vault: Vault) async throws {
    try await vault.changePassword(
      of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"),
      policy: try #require(Self.policy))
  }

  /// Returns the password that opens, which must be exactly one; the biometric slot always opens.
  private func password(in folder: String) async throws -> String {
    let vault = try VaultFixture.open(folder)
    var opening: [String] = []
    for password in [VaultFixture.password, "new"] {
      do throws(VaultFailure) {
        _ = try await vault.open("keys", of: id, with: .password(SecretBytes(password)))
        opening.append(password)
      } catch { #expect(error == .wrongPassword(remaining: 4)) }
    }
    let domain = try await vault.openWithBiometrics(
      "keys", of: id, with: SimulatedBiometrics(), reason: "test")
    #expect(try domain.text("signing") == "signing key")
    #expect(opening.count == 1, "\(opening)")
    return opening.first ?? ""
  }

  @Test("before each statement")
  func everyStatement() async throws {
    var found: [String] = []
    for folder in try await fixture.pictures(of: change) { found.append(try await password(in: folder)) }
    #expect(found.count > 15)
    #expect(found.first == VaultFixture.password)
    #expect(found.last == "new")
    #expect(
      found.drop { $0 == VaultFixture.password }.allSatisfy { $0 == "new" }, "once new, never old again")
  }

  @Test("at any byte of the write-ahead log: cut there, and zeros from there on", arguments: [true, false])
  func everyByte(isCut: Bool) async throws {
    let photographer = Photographer(of: fixture.directory, into: fixture.folder.file("crash"))
    let vault = try fixture.open { (sql) throws(SQLiteFailure) in
      if sql.hasPrefix("PRAGMA wal_checkpoint") { photographer.take() }
    }
    try await change(vault)
    let picture = try #require(photographer.folders.first)
    let log = try Data(contentsOf: URL(fileURLWithPath: "\(picture)/vault.sqlite-wal"))
    #expect(log.count > 4 * 4120)
    // Every 487th byte, and those around each frame's borders: a header of 32 bytes, then frames of 24 and a page of 4096.
    let borders = stride(from: 32, through: log.count, by: 4120).flatMap { [$0 - 1, $0, $0 + 1, $0 + 24] }
    let cuts = Set(Array(stride(from: 0, to: log.count, by: 487)) + borders).filter { $0 <= log.count }
      .sorted()
    var found: [String] = []
    for cut in cuts {
      let folder = fixture.folder.file("torn")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      for name in ["vault.sqlite", "software-keystore.key"] {
        try FileManager.default.copyItem(atPath: "\(picture)/\(name)", toPath: "\(folder)/\(name)")
      }
      let torn = isCut ? log.prefix(cut) : log.prefix(cut) + Data(count: log.count - cut)
      try torn.write(to: URL(fileURLWithPath: "\(folder)/vault.sqlite-wal"))
      found.append(try await password(in: folder))
      try FileManager.default.removeItem(atPath: folder)
    }
    #expect(found.first == VaultFixture.password)
    #expect(found.last == "new")
    #expect(found.drop { $0 == VaultFixture.password }.allSatisfy { $0 == "new" })
  }

  @Test("a failure of any statement is reported, and one of the two passwords works")
  func injectedFailures() async throws {
    let id = id
    let failures = try await fixture.failingEachStatement { vault throws(VaultFailure) in
      try await vault.changePassword(
        of: "keys", in: id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new"), policy: .any)
    } check: { _ in
      let working = try await password(in: fixture.directory)
      #expect(working == VaultFixture.password)
    }
    #expect(failures > 15, "every statement of it")
    #expect(try await password(in: fixture.directory) == "new")
  }

  @Test("a process that is killed before a statement", arguments: [1, 5, 10, 12, 14, 16])
  func killed(beforeStatement number: Int) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = fixture.directory as String, id = id.description as String, number = number as Int] in
      let vault = try VaultFixture.openDying(directory, beforeStatement: number)
      try await vault.changePassword(
        of: "keys", in: try #require(LocalContainerID(id)), from: SecretBytes(VaultFixture.password),
        to: SecretBytes("new"), policy: .any)
    }
    _ = try await password(in: fixture.directory)
  }
}
