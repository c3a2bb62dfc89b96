import Foundation
import SignetCrypto
import SignetPolicy
import SignetSQLite
import SignetTesting
import SignetVault
import Testing

@Suite("Damaged and foreign vault files")
struct FileFaultTests {
  private let fixture: VaultFixture
  private let id: LocalContainerID

  init() async throws {
    fixture = try VaultFixture()
    let vault = try fixture.open()
    id = try await vault.addContainer(.sample())
    try await vault.confirmContainer(id)
    try fixture.rawDatabase().checkpoint()
  }

  private var file: URL { URL(fileURLWithPath: fixture.databasePath) }

  /// Replaces the file's content and uses it; checks that a rejected file stays unchanged.
  private func refusal(of content: Data) async throws -> VaultFailure? {
    for suffix in ["-wal", "-shm"] { unlink(fixture.databasePath + suffix) }
    try content.write(to: file)
    chmod(fixture.databasePath, 0o600)
    do throws(VaultFailure) {
      let vault = try Vault(
        directory: fixture.directory, keystore: SoftwareKeystore(directory: fixture.directory),
        settings: .weak)
      let containers = try await vault.containers()
      if containers.isEmpty { throw .noSuchContainer(id) }
      _ = try await vault.open("session", of: id, with: .device)
      _ = try await vault.open("keys", of: id, with: .password(SecretBytes(VaultFixture.password)))
      return nil
    } catch {
      let waysOut = ["register again", "restore it", "install the newer program"]
      #expect(waysOut.contains { error.description.contains($0) }, "no way out: \(error)")
      for suffix in ["-wal", "-shm"] { unlink(fixture.databasePath + suffix) }
      #expect(try Data(contentsOf: file) == content, "the file was touched")
      return error
    }
  }

  @Test("cut at any page, and around it")
  func truncated() async throws {
    let whole = try Data(contentsOf: file)
    var refused = 0
    for page in stride(from: 4096, to: whole.count, by: 4096) {
      for length in [page - 1, page, page + 1, page + 2048] where length < whole.count {
        if try await refusal(of: whole.prefix(length)) != nil { refused += 1 }
      }
    }
    // A file that is not rejected has lost pages of empty tables, and opens unchanged.
    #expect(refused > (whole.count / 4096 - 1) * 3)
    #expect(try await refusal(of: whole) == nil)
  }

  @Test("a bit flipped anywhere")
  func flipped() async throws {
    let whole = try Data(contentsOf: file)
    var refused = 0
    for offset in stride(from: 0, to: whole.count, by: 211) {
      var changed = whole
      changed[offset] ^= 1 << (offset % 8)
      if try await refusal(of: changed) != nil { refused += 1 }
    }
    // A change that is not rejected is between the stored values.
    #expect(refused > 10)
  }

  @Test(
    "rows that were swapped, or are older than the rest",
    arguments: [
      "UPDATE record SET sealed = (SELECT sealed FROM record WHERE domain = 'session' AND name = 'key') WHERE name = 'counter'",
      "UPDATE slot SET mac = (SELECT mac FROM slot WHERE kind = 1)",
      "UPDATE part SET digest = (SELECT digest FROM part WHERE name = 'keys') WHERE name = 'session'",
      "DELETE FROM record WHERE domain = 'keys' AND name = 'counter'", "DELETE FROM slot WHERE kind = 2",
      "UPDATE generation SET number = number - 1",
    ])
  func swapped(_ sql: String) async throws {
    do {
      let raw = try fixture.rawDatabase()
      try raw.execute(script: sql)
      try raw.checkpoint()
    }
    let failure = try await refusal(of: Data(contentsOf: file))
    guard case .altered? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("a file of a later version is refused")
  func newer() async throws {
    do {
      let raw = try fixture.rawDatabase()
      try raw.execute(script: "PRAGMA user_version = 77")
      try raw.checkpoint()
    }
    #expect(try await refusal(of: Data(contentsOf: file)) == .tooNew(found: 77, supported: 3))
  }

  @Test("an older file, where the hardware counts")
  func older() async throws {
    let hardware = SimulatedHardware()
    let other = try VaultFixture()
    let path = URL(fileURLWithPath: other.databasePath)
    func content() throws -> Data {
      try other.rawDatabase().checkpoint()
      return try Data(contentsOf: path)
    }
    let id = try await other.open(keystore: hardware).addContainer(.sample())
    let old = try content()
    await #expect(throws: VaultFailure.wrongPassword(remaining: 4)) {
      try await other.open(keystore: hardware).signingKey(of: id, "no")
    }
    for suffix in ["-wal", "-shm"] { unlink(other.databasePath + suffix) }
    try old.write(to: path)
    chmod(other.databasePath, 0o600)
    let failure = #expect(throws: VaultFailure.self) { try other.open(keystore: hardware) }
    #expect(failure?.description.contains("put the newest one back, or delete it and register again") == true)
    for suffix in ["-wal", "-shm"] { unlink(other.databasePath + suffix) }
    #expect(try Data(contentsOf: path) == old)
  }

  @Test("another vault's file, and this file with another device's key")
  func foreign() async throws {
    let other = try VaultFixture()
    do {
      let vault = try other.open()
      _ = try await vault.addContainer(.sample())
      try other.rawDatabase().checkpoint()
    }
    let foreign = try Data(contentsOf: URL(fileURLWithPath: other.databasePath))
    #expect(try await refusal(of: foreign) == .keystore(.refused))
    let description = VaultFailure.keystore(.refused).description
    #expect(description.contains("another device"))
  }

  @Test("other files and foreign databases are refused")
  func noVault() async throws {
    #expect(try await refusal(of: Data(repeating: 0x41, count: 10_000)) == .damaged)
    #expect(try await refusal(of: Data("SQLite format 3\0".utf8)) == .damaged)
    let path = fixture.folder.file("other.sqlite")
    do {
      let database = try Database(path: path, mode: .readWriteCreate)
      try database.execute(script: "CREATE TABLE t (a); PRAGMA user_version = 3")
      try database.checkpoint()
    }
    #expect(try await refusal(of: Data(contentsOf: URL(fileURLWithPath: path))) == .damaged)
  }
}

extension Vault.Settings {
  /// Settings with cheap passwords.
  fileprivate static var weak: Self {
    var settings = Vault.Settings(cost: .fixed(VaultFixture.weak))
    settings.insecureCostFloor = VaultFixture.weak
    return settings
  }
}
