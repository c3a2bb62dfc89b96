import Foundation
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// `signet-server backup` and `restore`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BackupCommandTests {
  private static func mode(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  /// Replaces the data folder of a stopped server with a restored one.
  private static func exchange(_ server: RunningServer, for folder: String) throws {
    try FileManager.default.moveItem(atPath: server.data, toPath: "\(server.folder.path)/lost")
    try FileManager.default.moveItem(atPath: folder, toPath: server.data)
  }

  @Test("a running server is backed up, and the restored one serves its devices")
  func serves() async throws {
    let server = try await RunningServer.startWithShop()
    let device = server.device()
    _ = try await device.json(
      "activate", "--code-file", server.codeFile("alice"), passwords: ["winter-garden-42"])
    let copies = try await withThrowingTaskGroup(of: Void.self) { group in
      // Writes happen during the backup.
      for number in 0..<20 {
        group.addTask {
          let added = try await ServerCommand.run(["user", "add", "u\(number)", "--data", server.data])
          #expect(added.status == 0, "u\(number): \(added.errorOutput)")
        }
      }
      let result = try await server.run("backup", "\(server.folder.path)/copy")
      try await group.waitForAll()
      return result
    }
    #expect(copies.status == 0, "\(copies.errorOutput)")
    let copy = "\(server.folder.path)/copy"
    #expect(try Self.mode(copy) == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: copy).sorted()
    #expect(
      names == ["admin.key", "ca.pem", "master.key", "server.json", "signet.sqlite", "tls.key", "tls.pem"])
    for name in names { #expect(try Self.mode("\(copy)/\(name)") == 0o600, "\(name)") }
    // The copy does not have this later change.
    _ = try await server.json("user", "add", "late")
    await server.stop()

    let restored = try await ServerCommand.run("restore", copy, "--data", "\(server.folder.path)/again")
    #expect(restored.status == 0, "\(restored.errorOutput)")
    #expect(restored.errorOutput.contains("1. Wait five minutes"))
    #expect(try Self.mode("\(server.folder.path)/again") == 0o700)
    // The copy is unchanged: no log, and no writes.
    #expect(try FileManager.default.contentsOfDirectory(atPath: copy).sorted() == names)
    try Self.exchange(server, for: "\(server.folder.path)/again")
    let again = try await RunningServer(server.folder, server.port)
    #expect(try await again.json("audit", "verify")["intact"] == true)
    let users = try await again.run("user", "list").output
    #expect(users.contains("alice") && !users.contains("late"), "\(users)")
    let code = try await device.json("otp", passwords: ["winter-garden-42"]).string("code")
    let valid = try await APIClient(again, keyFile: again.shopKey).json(
      .post, "otp/validate", ["user": "alice", "code": .string(code)])
    #expect(valid["valid"] == true)
    await again.stop()
  }

  @Test("existing files are not overwritten, and a refusal leaves no files")
  func overwritesNothing() async throws {
    let server = try await RunningServer.start()
    let copy = "\(server.folder.path)/copy"
    #expect(try await server.run("backup", copy).status == 0)
    let before = try FolderSnapshot(server.folder.path).paths
    for words in [
      ["backup", copy, "--data", server.data], ["restore", copy, "--data", server.data],
      ["backup", "\(server.data)/inside", "--data", server.data],
      ["backup", "\(server.folder.path)/none/copy", "--data", server.data],
    ] {
      let refused = try await ServerCommand.run(words)
      #expect(refused.status != 0 && !refused.errorOutput.isEmpty, "\(words)")
    }
    let missing = try await ServerCommand.run("restore", "\(copy)-2", "--data", "\(server.folder.path)/again")
    #expect(missing.isRefusal(66, "there is no backup \(copy)-2; name the folder that"), missing.summary)
    let file = "\(copy)/server.json"
    let noFolder = try await ServerCommand.run("restore", file, "--data", "\(server.folder.path)/again")
    #expect(noFolder.isRefusal(66, "\(file) is not a folder; name the one that"), noFolder.summary)
    #expect(try FolderSnapshot(server.folder.path).paths == before)
    await server.stop()
  }

  @Test("a damaged copy, a copy without its key and one that others can read are refused")
  func refused() async throws {
    let server = try await RunningServer.start()
    await server.stop()
    let again = "\(server.folder.path)/again"
    for what in ["database", "cut", "mode", "key"] {
      let copy = "\(server.folder.path)/copy-\(what)"
      let words = what == "key" ? ["--without-master-key"] : []
      #expect(try await ServerCommand.run(["backup", copy, "--data", server.data] + words).status == 0)
      let path = "\(copy)/signet.sqlite"
      switch what {
      case "database": try damageFile(path, from: 8192)
      case "cut":
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.close()
      case "mode": #expect(chmod(path, 0o644) == 0)
      default: #expect(!FileManager.default.fileExists(atPath: "\(copy)/master.key"))
      }
      let refused = try await ServerCommand.run("restore", copy, "--data", again)
      #expect(refused.status != 0 && !refused.errorOutput.isEmpty, "\(what)")
      if what == "key" { #expect(refused.isRefusal(66, "SIGNET_MASTER_KEY_FILE"), refused.summary) }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: server.folder.path).allSatisfy {
          !$0.hasPrefix("again")
        }, "\(what)")
    }
    // With the master key from its other place, the last copy is complete; the key stays there.
    let key = "\(server.data)/master.key"
    let restored = try await ServerCommand.run(
      "restore", "\(server.folder.path)/copy-key", "--data", again,
      environment: ["SIGNET_MASTER_KEY_FILE": key])
    #expect(restored.status == 0, "\(restored.errorOutput)")
    // The command in the advice needs the variable too.
    #expect(
      restored.errorOutput.contains("   SIGNET_MASTER_KEY_FILE=\(key) signet-server serve --data "),
      restored.summary)
    #expect(!FileManager.default.fileExists(atPath: "\(again)/master.key"))
    #expect(FileManager.default.fileExists(atPath: "\(again)/signet.sqlite"))
  }

  @Test("a copy without the server's certificate is refused, and one without the operator's key is not")
  func lacksFiles() async throws {
    let folder = try TemporaryFolder()
    try await InitializedFolder.make([], try FreePort.find(), in: folder)
    let (copy, again) = (folder.file("copy"), folder.file("again"))
    #expect(try await ServerCommand.run("backup", copy, "--data", folder.file("data")).status == 0)
    let (certificate, kept) = ("\(copy)/tls.pem", folder.file("tls.pem"))
    try FileManager.default.moveItem(atPath: certificate, toPath: kept)
    let refused = try await ServerCommand.run("restore", copy, "--data", again)
    #expect(
      refused.isRefusal(78, "/copy/tls.pem is missing, which \"tls.certificate\" of server.json names"),
      refused.summary)
    #expect(!FileManager.default.fileExists(atPath: again))
    try FileManager.default.moveItem(atPath: kept, toPath: certificate)
    try FileManager.default.removeItem(atPath: "\(copy)/admin.key")
    let restored = try await ServerCommand.run("restore", copy, "--data", again)
    #expect(
      restored.status == 0 && restored.errorOutput.contains("The backup has no admin.key; put it into"),
      restored.summary)
  }

  @Test(
    "a backup that is killed at one of its steps leaves nothing under its name, or all of it",
    .enabled(if: StepTrap.isThere))
  func killed() async throws {
    let server = try await RunningServer.start()
    await server.stop()
    let trap = try StepTrap(["write", "pwrite64", "fsync", "fdatasync"])
    let (copy, again) = ("\(server.folder.path)/copy", "\(server.folder.path)/again")
    let command = try ServerCommand.process(["backup", copy, "--data", server.data])
    let trapped = ChildCommand(trap.launcher + command.line, environment: command.environment)
    try trap.arm(nil)
    #expect(try await trapped.finish().status == 0)
    let count = try trap.count
    try trap.disarm()
    try FileManager.default.removeItem(atPath: copy)
    try #require(count > 10)
    // The database has many pages; the last steps are those after the copy is renamed.
    var (named, unnamed) = (0, 0)
    for step in Set(stride(from: 1, through: count, by: max(count / 12, 1))).union(count - 2...count).sorted()
    {
      try trap.arm(step)
      let result = try await trapped.finish()
      let wasSprung = try trap.wasSprung
      try trap.disarm()
      #expect(result.status == (wasSprung ? -SIGKILL : 0), "step \(step): \(result.summary)")
      if FileManager.default.fileExists(atPath: copy) {
        named += 1
      } else {
        unnamed += 1
        #expect(
          try await ServerCommand.run("backup", copy, "--data", server.data).status == 0, "step \(step)")
      }
      #expect(try await ServerCommand.run("restore", copy, "--data", again).status == 0, "step \(step)")
      for path in [copy, again] { try FileManager.default.removeItem(atPath: path) }
    }
    // There were kills before and after the rename; otherwise the steps would not be those of the copy.
    #expect(named > 0 && unnamed > 0, "\(named), \(unnamed)")
  }
}
