import Foundation
import Signet
import SignetJSON
import SignetSQLite
import SignetTestKit
import Synchronization
import Testing

/// Unusable data folders of devices and servers: a clear message, and an unchanged folder.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BadFolderTests {
  private func activated() async throws -> (RunningServer, InstalledSignet) {
    let server = try await RunningServer.startWithShop(["--protection", "device"])
    let device = server.device()
    _ = try await device.json("activate", "--code-file", server.codeFile("alice"))
    return (server, device)
  }

  private func expectRefusal(
    _ device: InstalledSignet, _ status: Int32, _ text: String, _ words: [String] = ["otp"],
    at location: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try FolderSnapshot(device.data)
    let result = try await device.run(words)
    #expect(result.isRefusal(status, text), result.summary, sourceLocation: location)
    #expect(try FolderSnapshot(device.data) == before, sourceLocation: location)
  }

  @Test func missing() async throws {
    let folder = try TemporaryFolder()
    let device = InstalledSignet(data: "\(folder.path)/none/of/these")
    for words in [["otp"], ["pending"], ["pending", "--json"], ["approve"], ["deny"], ["delete", "--yes"]] {
      try await expectRefusal(device, 78, "there is no folder", words)
    }
    // Without any activation, an empty list is the correct answer.
    #expect(try await device.json("list").array("containers").isEmpty)
    let listed = try await device.run("list")
    #expect(listed.status == 0 && listed.errorOutput.contains("no container yet"), listed.summary)
    #expect(try FolderSnapshot(folder.path).paths.isEmpty)
    let file = "\(folder.path)/file"
    #expect(FileManager.default.createFile(atPath: file, contents: Data()))
    try await expectRefusal(InstalledSignet(data: file), 73, "Not a directory", ["list"])
    try await expectRefusal(InstalledSignet(data: "\(file)/x"), 73, "Not a directory", ["list"])
    // The message quotes the path for use in a command.
    let blank = "\(folder.path)/my file"
    #expect(FileManager.default.createFile(atPath: blank, contents: Data()))
    try await expectRefusal(
      InstalledSignet(data: blank), 73, "the folder '\(blank)' cannot be used", ["list"])
  }

  @Test func ofAnotherUserOrOpenToOthers() async throws {
    let (server, device) = try await activated()
    await server.stop()
    #expect(chmod(device.data, 0o777) == 0)
    try await expectRefusal(device, 73, "other users may write to")
    #expect(chmod(device.data, 0o700) == 0)
    #expect(chmod("\(device.data)/vault.sqlite", 0o666) == 0)
    try await expectRefusal(device, 73, "other users may write to")
    #expect(chmod("\(device.data)/vault.sqlite", 0o600) == 0)
    #expect(chmod("\(device.data)/software-keystore.key", 0o644) == 0)
    try await expectRefusal(device, 65, "may be read by others")
    #expect(chmod("\(device.data)/software-keystore.key", 0o600) == 0)
    if geteuid() == 0 {
      #expect(chown(device.data, Nobody.id, Nobody.id) == 0)
      try await expectRefusal(device, 73, "belongs to user \(Nobody.id) and this program runs as user 0")
      #expect(chown(device.data, 0, 0) == 0)
      #expect(chown("\(server.data)/signet.sqlite", Nobody.id, Nobody.id) == 0)
      let refused = try await server.run("serve")
      #expect(refused.isRefusal(77, "belongs to user \(Nobody.id)"), refused.summary)
    } else {
      try await expectRefusal(InstalledSignet(data: "/usr"), 73, "belongs to user 0", ["list"])
    }
    #expect(try await device.json("otp").string("code").count == 6)
  }

  @Test(.enabled(if: Nobody.canRun, "needs another user than root to run as")) func readOnly() async throws {
    let folder = try TemporaryFolder()
    // Other users need access to the folder and the programs.
    #expect(chmod(folder.path, 0o755) == 0)
    var device = InstalledSignet(data: "\(folder.path)/device/data")
    device.launcher = Nobody.launcher
    device.program = try Nobody.copy(of: InstalledSignet.executable(), in: folder)
    let code = "\(folder.path)/code"
    try Data(ActivationCode.unreachable().text.utf8).write(to: URL(filePath: code))
    let activate = ["activate", "--code-file", code]
    if geteuid() == 0 { try await expectRefusal(device, 73, "may not be written to", activate) }
    try FileManager.default.createDirectory(atPath: device.data, withIntermediateDirectories: true)
    try Nobody.give(device.data)
    // The command creates its vault there; then the folder and its files become read-only.
    #expect(try await device.run(activate).status == 69)
    #expect(chmod(device.data, 0o500) == 0)
    try await expectRefusal(device, 73, "may not be written to", ["list"])
    #expect(chmod(device.data, 0o700) == 0)
    #expect(chmod("\(device.data)/vault.sqlite", 0o400) == 0)
    try await expectRefusal(device, 73, "may not be written to", ["list"])
    #expect(chmod("\(device.data)/vault.sqlite", 0o600) == 0)
    #expect(try await device.run("list").status == 0)
  }

  @Test(.enabled(if: Nobody.canRun, "needs another user than root to run as"))
  func readOnlyForTheServer() async throws {
    let folder = try TemporaryFolder()
    #expect(chmod(folder.path, 0o755) == 0)
    let program = try Nobody.copy(of: ServerCommand.executable(), in: folder)
    let data = "\(folder.path)/server/data"
    func run(_ words: String...) async throws -> ServerCommand.Result {
      try await ChildCommand(Nobody.launcher + [program] + words, environment: ServerCommand.cleanEnvironment)
        .finish()
    }
    let url = "127.0.0.1:\(try FreePort.find())/main"
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/server", withIntermediateDirectories: true)
    try Nobody.give("\(folder.path)/server")
    #expect(chmod("\(folder.path)/server", 0o500) == 0)
    let refused = try await run("init", "--data", data, "--url", url)
    #expect(refused.isRefusal(73, "can't be written: Permission denied"), refused.summary)
    #expect(try FolderSnapshot("\(folder.path)/server").paths.isEmpty)
    #expect(chmod("\(folder.path)/server", 0o700) == 0)
    #expect(try await run("init", "--data", data, "--url", url).status == 0)
    for path in ["\(data)/signet.sqlite", data] {
      #expect(chmod(path, path == data ? 0o500 : 0o400) == 0)
      let before = try FolderSnapshot(data)
      let stopped = try await run("serve", "--data", data)
      #expect(stopped.isRefusal(77, "the database cannot be written"), stopped.summary)
      #expect(try FolderSnapshot(data) == before)
      #expect(chmod(path, path == data ? 0o700 : 0o600) == 0)
    }
  }

  @Test func ofANewerVersion() async throws {
    let (server, device) = try await activated()
    await server.stop()
    try Database(path: "\(device.data)/vault.sqlite", mode: .readWrite).execute("PRAGMA user_version = 99")
    for words in [["list"], ["otp"], ["activate", "--code-file", "\(server.folder.path)/alice.code"]] {
      try await expectRefusal(device, 65, "version 99 and this program knows versions up to", words)
    }
    try Database(path: "\(server.data)/signet.sqlite", mode: .readWrite).execute(
      "UPDATE schema_version SET version = 99")
    let before = try FolderSnapshot(server.data)
    let refused = try await server.run("serve")
    #expect(refused.isRefusal(78, "newer"), refused.summary)
    #expect(try FolderSnapshot(server.data) == before)
  }

  @Test func damaged() async throws {
    let (server, device) = try await activated()
    await server.stop()
    for size in [9000, 4096, 600, 1, 0] {
      let noise = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })
      for path in ["\(device.data)/vault.sqlite", "\(server.data)/signet.sqlite"] {
        try noise.write(to: URL(filePath: path))
        #expect(chmod(path, 0o600) == 0)
      }
      // SQLite treats a file without a complete page as empty: a vault without containers.
      let listed = try await device.run("list")
      #expect(
        listed.status == (size < 2 ? 0 : 65) && !listed.errorOutput.isEmpty,
        "\(size) bytes: \(listed.summary)")
      guard size > 1 else { continue }
      let served = try await server.run("serve")
      #expect(served.isRefusal(74, "damaged"), "\(size) bytes: \(served.summary)")
    }
  }
}

/// The user `nobody`, as whom a program runs if root would bypass the check.
enum Nobody {
  static let id: UInt32 = 65534
  private static let setpriv = "/usr/bin/setpriv"

  /// Indicates whether the tests run; without the program they are skipped, but fail in CI.
  static var canRun: Bool {
    geteuid() != 0 || FileManager.default.isExecutableFile(atPath: setpriv) || ContinuousIntegration.isHere
  }

  static var launcher: [String] {
    geteuid() == 0 ? [setpriv, "--reuid=\(id)", "--regid=\(id)", "--clear-groups", "--"] : []
  }

  /// Copies a program to a path that the user can reach, since a build folder may be below a home.
  static func copy(of program: String, in folder: TemporaryFolder) throws -> String {
    let path = "\(folder.path)/\(URL(filePath: program).lastPathComponent)"
    try link(program, to: path)
    return path
  }

  /// Copies of programs, by the number of the copy and the program's name; one folder for each test process.
  private static let copies = Mutex<(folder: TemporaryFolder, names: Set<String>)?>(nil)

  /// Links a path to a copy that all tests of a process share, along with its owner and its mode.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - path: The path of the link.
  ///   - number: The number of the copy; different numbers give different files.
  /// - Throws: Errors of the file system.
  static func link(_ program: String, to path: String, number: Int = 0) throws {
    let shared = try copies.withLock { copies in
      var made = try copies ?? (TemporaryFolder(), [])
      let name = "\(number)-\(URL(filePath: program).lastPathComponent)"
      let path = made.folder.file(name)
      if made.names.insert(name).inserted { try copy(program, to: path) }
      copies = made
      return path
    }
    try FileManager.default.linkItem(atPath: shared, toPath: path)
    let manifest = "\(shared).manifest"
    guard FileManager.default.fileExists(atPath: manifest) else { return }
    try FileManager.default.copyItem(atPath: manifest, toPath: "\(path).manifest")
    #expect(chmod("\(path).manifest", 0o644) == 0)
  }

  /// Copies a program along with the manifest of its release; the copy is not installed, so it has no group.
  static func copy(_ program: String, to path: String) throws {
    let files = FileManager.default
    try files.copyItem(atPath: program, toPath: path)
    #expect(chmod(path, 0o755) == 0)
    // Programs next to the test bundle belong to no release.
    let folder = URL(filePath: program).deletingLastPathComponent().deletingLastPathComponent().path
    let manifest = "\(folder)/lib/signet/release.manifest"
    guard files.fileExists(atPath: manifest) else { return }
    try files.copyItem(atPath: manifest, toPath: "\(path).manifest")
    #expect(chmod("\(path).manifest", 0o644) == 0)
  }

  /// Gives a folder to the user, without access for others.
  static func give(_ path: String) throws {
    if geteuid() == 0 { try #require(chown(path, id, id) == 0) }
    try #require(chmod(path, 0o700) == 0)
  }
}
