import Foundation
import SignetCrypto
import SignetSQLite
import SignetTestKit
import SignetVault
import Testing

@Suite("Vault folder and file: permissions, owners, versions, full disks", .timeLimit(.minutes(10)))
struct VaultFolderTests {
  private let fixture: VaultFixture

  init() throws { fixture = try VaultFixture() }

  @Test("folders are 0700 and files 0600, whatever the umask")
  func modes() async throws {
    await #expect(processExitsWith: .success) { [folder = fixture.folder.path as String] in
      umask(0)
      let vault = try VaultFixture.open("\(folder)/a/b/vault")
      _ = try await vault.addContainer(.sample())
      for (name, mode) in [
        ("a", 0o700), ("a/b", 0o700), ("a/b/vault", 0o700), ("a/b/vault/vault.sqlite", 0o600),
        ("a/b/vault/vault.sqlite-wal", 0o600), ("a/b/vault/vault.sqlite-shm", 0o600),
        ("a/b/vault/software-keystore.key", 0o600),
      ] where permissions(of: "\(folder)/\(name)") != mode { exit(2) }
    }
  }

  @Test("read access of others is removed; write access of others is refused")
  func othersRights() throws {
    _ = try fixture.open()
    chmod(fixture.directory, 0o755)
    chmod(fixture.databasePath, 0o644)
    _ = try fixture.open()
    #expect(permissions(of: fixture.directory) == 0o700)
    #expect(permissions(of: fixture.databasePath) == 0o600)
    chmod(fixture.databasePath, 0o620)
    #expect(throws: VaultFailure.writableByOthers(path: fixture.databasePath)) { try fixture.open() }
    chmod(fixture.databasePath, 0o600)
    chmod(fixture.directory, 0o702)
    #expect(throws: VaultFailure.writableByOthers(path: fixture.directory)) { try fixture.open() }
  }

  @Test("a missing folder, a file, and a path below a file are refused")
  func noFolder() throws {
    let keystore = SoftwareKeystore(directory: fixture.directory)
    #expect(throws: VaultFailure.folderMissing(path: fixture.directory)) {
      try Vault(directory: fixture.directory, keystore: keystore, createIfMissing: false)
    }
    #expect(!FileManager.default.fileExists(atPath: fixture.directory))
    let file = fixture.folder.file("file")
    try Data().write(to: URL(fileURLWithPath: file))
    #expect(throws: VaultFailure.folderUnavailable(path: file, errno: ENOTDIR)) {
      try VaultFixture.open(file)
    }
    #expect(throws: VaultFailure.folderUnavailable(path: "\(file)/vault", errno: ENOTDIR)) {
      try VaultFixture.open("\(file)/vault")
    }
    try FileManager.default.createDirectory(
      atPath: fixture.directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let failure = #expect(throws: VaultFailure.self) {
      try Vault(directory: fixture.directory, keystore: keystore, createIfMissing: false)
    }
    guard case .storage(.cannotOpen)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    try FileManager.default.createSymbolicLink(atPath: fixture.databasePath, withDestinationPath: file)
    #expect(throws: VaultFailure.folderUnavailable(path: fixture.databasePath, errno: EINVAL)) {
      try fixture.open()
    }
  }

  @Test(
    "another user's folder is refused, and its owner is named",
    .enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "needs root to give files away"))
  func otherOwner() throws {
    _ = try fixture.open()
    chown(fixture.databasePath, 65534, 65534)
    #expect(throws: VaultFailure.ownedByAnother(path: fixture.databasePath, owner: 65534, user: 0)) {
      try fixture.open()
    }
    chown(fixture.directory, 65534, 65534)
    let failure = #expect(throws: VaultFailure.self) { try fixture.open() }
    #expect(
      failure?.description
        == "\(fixture.directory) belongs to user 65534 and this program runs as user 0; run it as its owner")
  }

  @Test("an unwritable path is named", arguments: ["parent", "folder", "file"])
  func readOnly(_ what: String) async {
    await #expect(processExitsWith: .success) {
      [folder = fixture.folder.path as String, what = what as String] in
      dropPrivileges()
      let parent = "\(folder)/parent"
      let directory = "\(parent)/vault"
      let expected: String
      _ = try VaultFixture.open(directory)
      switch what {
      case "parent":
        try FileManager.default.removeItem(atPath: directory)
        expected = parent
        chmod(parent, 0o500)
      case "folder":
        expected = directory
        chmod(directory, 0o500)
      default:
        expected = "\(directory)/vault.sqlite"
        chmod(expected, 0o400)
      }
      do {
        _ = try VaultFixture.open(directory)
        exit(2)
      } catch VaultFailure.folderReadOnly(expected) {}
      chmod(parent, 0o700)
      chmod(directory, 0o700)
    }
  }

  @Test("a newer version is refused with the remedy and left unchanged; another file is a damaged vault")
  func versions() throws {
    _ = try fixture.open()
    do { try fixture.rawDatabase().execute(script: "PRAGMA user_version = 99") }
    let failure = #expect(throws: VaultFailure.tooNew(found: 99, supported: 3)) { try fixture.open() }
    #expect(failure?.description.contains("install the newer program") == true)
    #expect(try fixture.rawDatabase().schemaVersion() == 99)
    for suffix in ["-wal", "-shm"] { unlink(fixture.databasePath + suffix) }
    try Data(repeating: 0x58, count: 5000).write(to: URL(fileURLWithPath: fixture.databasePath))
    #expect(throws: VaultFailure.damaged) { try fixture.open() }
  }

  @Test(
    "a full disk", .enabled(if: TinyDisk.isPossible, "mounting a small disk needs root"))
  func fullDisk() async throws {
    let disk = try TinyDisk(kilobytes: 600)
    let vault = try VaultFixture.open(disk.folder.file("vault"))
    let id = try await vault.addContainer(.sample())
    try await vault.confirmContainer(id)
    let ballast = URL(fileURLWithPath: disk.folder.file("ballast"))
    try Data(count: 300_000).write(to: ballast)
    var large = ContainerDraft.sample(.sample(user: "bob"))
    large.attributes.extra = [UInt8](repeating: 1, count: 50_000)
    var failure: VaultFailure?
    for _ in 0..<10 where failure == nil {
      do { _ = try await vault.addContainer(large) } catch { failure = error }
    }
    #expect(failure == .diskFull)
    #expect(try await vault.sessionKey(of: id) == "session key", "reading goes on")
    #expect(try await vault.containers().map(\.id) == [id])
    try FileManager.default.removeItem(at: ballast)
    #expect(try await vault.signingKey(of: id) == "signing key")
    for container in try await vault.containers(matching: .init(state: .unconfirmed)) {
      try await vault.discardContainer(container.id)
    }
    #expect(try await vault.containers(matching: .init(state: nil)).map(\.id) == [id])
  }

  @Test("50 concurrent openers of a new vault agree on one device")
  func race() async throws {
    let directory = fixture.directory
    let devices = try await withThrowingTaskGroup(of: DeviceID.self, returning: Set<DeviceID>.self) { group in
      for _ in 0..<50 { group.addTask { try VaultFixture.open(directory).deviceID } }
      return try await group.reduce(into: []) { $0.insert($1) }
    }
    #expect(devices.count == 1)
  }
}
