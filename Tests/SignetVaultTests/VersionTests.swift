import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTestKit
import SignetVault
import Testing

@Suite("Vaults of earlier and later versions")
struct VersionTests {
  private let folder: TemporaryFolder
  private let directory: String

  init() throws {
    folder = try TemporaryFolder()
    directory = folder.file("vault")
  }

  /// Installs a vault of an earlier program.
  private func place(_ version: Int) throws {
    let made = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "Fixtures/version\(version)"
    ).path
    try FileManager.default.copyItem(atPath: made, toPath: directory)
    chmod(directory, 0o700)
    for name in ["vault.sqlite", "software-keystore.key"] { chmod("\(directory)/\(name)", 0o600) }
  }

  private func database() throws -> Database {
    try Database(path: "\(directory)/vault.sqlite", mode: .readWrite)
  }

  private func headerVersions() throws -> [UInt8] {
    try database().query("SELECT header FROM slot ORDER BY kind").map { try $0.blob("header")[4] }
  }

  @Test("a vault of version 1 opens, keeps its count, and its slots are replaced when they are opened")
  func upgrade() async throws {
    try place(1)
    let vault = try VaultFixture.open(directory)
    let container = try #require(try await vault.containers().first)
    #expect(container.attributes == .sample())
    #expect(try headerVersions() == [1, 1])
    #expect(try await vault.domains(of: container.id).map(\.attempts).contains(.allowed(remaining: 4)))
    await #expect(throws: VaultFailure.wrongPassword(remaining: 3)) {
      try await vault.signingKey(of: container.id, "no")
    }
    #expect(try headerVersions() == [1, 1])
    #expect(try await vault.signingKey(of: container.id) == "signing key")
    #expect(try await vault.sessionKey(of: container.id) == "session key")
    #expect(try headerVersions() == [2, 2])
    let again = try VaultFixture.open(directory)
    #expect(try await again.signingKey(of: container.id) == "signing key")
    #expect(try await again.sessionKey(of: container.id) == "session key")
    let policy = try PasswordPolicy(
      minimumLength: 1, maximumLength: 64, age: PasswordAge(minimumDays: 30))
    try await again.changePassword(
      of: "keys", in: container.id, from: SecretBytes(VaultFixture.password), to: SecretBytes("new one"),
      policy: policy)
    #expect(try await again.signingKey(of: container.id, "new one") == "signing key")
  }

  @Test("a vault of version 2 opens, keeps count and history, and gets a MAC over all rows")
  func upgradeOfVersion2() async throws {
    try place(2)
    let vault = try VaultFixture.open(directory)
    let id = try #require(try await vault.containers().first).id
    #expect(try await vault.domains(of: id).map(\.attempts).contains(.allowed(remaining: 4)))
    #expect(try await vault.signingKey(of: id, Self.passwords[2] ?? "") == "signing key")
    let policy = try PasswordPolicy(
      minimumLength: 1, maximumLength: 64, allowsSequences: true, maximumHistory: 3)
    await #expect(throws: VaultFailure.passwordUsedBefore(within: 3)) {
      try await vault.changePassword(
        of: "keys", in: id, from: SecretBytes(Self.passwords[2] ?? ""), to: SecretBytes("between"),
        policy: policy)
    }
    try database().execute("DELETE FROM record WHERE name = ' history'")
    await #expect(throws: VaultFailure.altered(.slot(id, domain: "keys"))) {
      try await vault.signingKey(of: id, Self.passwords[2] ?? "")
    }
  }

  private static let passwords = [1: VaultFixture.password, 2: "correct horse 2"]

  @Test("a crash before any statement of the upgrade leaves a vault that opens", arguments: [1, 2])
  func crash(_ version: Int) async throws {
    try place(version)
    let password = Self.passwords[version] ?? ""
    let photographer = Photographer(of: directory, into: folder.file("crash"))
    let vault = try VaultFixture.open(directory) { (_) throws(SQLiteFailure) in photographer.take() }
    let id = try #require(try await vault.containers().first).id
    #expect(try await vault.signingKey(of: id, password) == "signing key")
    #expect(try await vault.sessionKey(of: id) == "session key")
    #expect(photographer.folders.count > 20)
    for folder in photographer.folders {
      let vault = try VaultFixture.open(folder)
      #expect(try await vault.signingKey(of: id, password) == "signing key")
      #expect(try await vault.sessionKey(of: id) == "session key")
    }
  }

  @Test("a file or slot of a later version is refused with the remedy and left unchanged")
  func later() throws {
    try place(1)
    _ = try VaultFixture.open(directory)
    try database().execute(script: "PRAGMA user_version = 4")
    try database().checkpoint()
    let before = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/vault.sqlite"))
    #expect(throws: VaultFailure.tooNew(found: 4, supported: 3)) { try VaultFixture.open(directory) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(directory)/vault.sqlite")) == before)
  }
}
