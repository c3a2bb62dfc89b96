import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Vaults of earlier and later programs")
struct VersionTests {
  private let folder: TemporaryFolder
  private let directory: String

  init() throws {
    folder = try TemporaryFolder()
    directory = folder.file("vault")
    let made = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/version1").path
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

  @Test("a crash before any statement of the upgrade leaves a vault that opens")
  func crash() async throws {
    let photographer = Photographer(of: directory, into: folder.file("crash"))
    let vault = try VaultFixture.open(directory) { (_) throws(SQLiteFailure) in photographer.take() }
    let id = try #require(try await vault.containers().first).id
    #expect(try await vault.signingKey(of: id) == "signing key")
    #expect(try await vault.sessionKey(of: id) == "session key")
    #expect(photographer.folders.count > 20)
    for folder in photographer.folders {
      let vault = try VaultFixture.open(folder)
      #expect(try await vault.signingKey(of: id) == "signing key")
      #expect(try await vault.sessionKey(of: id) == "session key")
    }
  }

  @Test("a file or a slot of a later version is refused with what to do, and left as it is")
  func later() async throws {
    let vault = try VaultFixture.open(directory)
    let id = try #require(try await vault.containers().first).id
    try database().execute(script: "PRAGMA user_version = 3")
    try database().checkpoint()
    let before = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/vault.sqlite"))
    #expect(throws: VaultFailure.tooNew(found: 3, supported: 2)) { try VaultFixture.open(directory) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(directory)/vault.sqlite")) == before)
    _ = id
  }
}
