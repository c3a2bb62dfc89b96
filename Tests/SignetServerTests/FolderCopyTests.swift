import Foundation
import SignetDataDirectory
import SignetJSON
import SignetServer
import SignetTestKit
import Synchronization
import Testing

/// Copies of a data folder: complete or absent.
@Suite(.timeLimit(.minutes(10))) struct FolderCopyTests: DataDirectorySuite {
  let parent: TemporaryFolder

  init() throws { parent = try TemporaryFolder() }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: parent.path).sorted() }
  }

  @Test("until the copy is complete its name does not exist, and a failure leaves nothing")
  func isWholeOrNotThere() async throws {
    let folder = try await makeFolder()
    let copy = "\(parent.path)/copy"
    let steps = Mutex<[String]>([])
    _ = try folder.copy(to: copy, isRestored: false, hasMasterKey: true) {
      step throws(DataDirectoryFailure) in
      steps.withLock { $0.append(step) }
      if FileManager.default.fileExists(atPath: copy) { throw .exists(path: step) }
    }
    #expect(try names == ["copy", "server"])
    let count = steps.withLock { $0.count }
    #expect(count >= 9)
    for number in 0..<count {
      let seen = Mutex(0)
      let other = "\(parent.path)/other"
      #expect(throws: DataDirectoryFailure.unwritable(path: "step", errno: ENOSPC)) {
        try folder.copy(to: other, isRestored: true, hasMasterKey: true) { _ throws(DataDirectoryFailure) in
          let isNow = seen.withLock { seen in
            defer { seen += 1 }
            return seen == number
          }
          if isNow { throw .unwritable(path: "step", errno: ENOSPC) }
        }
      }
      #expect(try names == ["copy", "server"], "step \(number)")
    }
  }

  @Test("a metadata folder is copied with its files, and files elsewhere are named")
  func inner() async throws {
    _ = try await makeFolder()
    let inner = "\(path)/metadata"
    #expect(mkdir(inner, 0o700) == 0)
    #expect(
      FileManager.default.createFile(
        atPath: "\(inner)/a.json", contents: Data("{}".utf8), attributes: [.posixPermissions: 0o600]))
    let copy = try DataDirectory(opening: path).backUp(to: "\(parent.path)/copy")
    #expect(copy.files.contains("metadata/a.json") && copy.files.contains("signet.sqlite"))
    #expect(copy.outside.isEmpty)
    #expect(try Data(contentsOf: URL(filePath: "\(copy.path)/metadata/a.json")) == Data("{}".utf8))
    #expect(try mode("\(copy.path)/metadata") == 0o700)
    #expect(try DataDirectory(opening: copy.path).settings == DataDirectory(opening: path).settings)
  }

  @Test("a link in the folder is refused, and so is a copy of a folder into itself")
  func refuses() async throws {
    let folder = try await makeFolder()
    #expect(throws: DataDirectoryFailure.insideItself(path: folder.path + "/copy")) {
      try folder.backUp(to: path + "/copy")
    }
    #expect(symlink("/etc/passwd", "\(path)/link") == 0)
    #expect(throws: DataDirectoryFailure.wrongKind(path: folder.path + "/link")) {
      try folder.backUp(to: "\(parent.path)/copy")
    }
    #expect(try names == ["server"])
  }

  @Test("a copy with another master key is not restored")
  func otherKey() async throws {
    let folder = try await makeFolder()
    let copy = try folder.backUp(to: "\(parent.path)/copy")
    let other = "\(parent.path)/other.key"
    #expect(
      FileManager.default.createFile(
        atPath: other, contents: Data(repeating: 7, count: 32), attributes: [.posixPermissions: 0o600]))
    #expect(throws: DataDirectoryFailure.wrongMasterKey(path: other)) {
      try DataDirectory(opening: copy.path).restore(to: "\(parent.path)/again", masterKeyFile: other)
    }
    #expect(try names == ["copy", "other.key", "server"])
  }

  @Test("a copy without a file that its settings name in the folder is not restored")
  func namedFileMissing() async throws {
    _ = try await makeFolder()
    #expect(mkdir("\(path)/metadata", 0o700) == 0)
    var settings = try JSONObject(parsing: [UInt8](Data(contentsOf: URL(filePath: "\(path)/server.json"))))
    settings["uaf"] = ["facets": ["ios:bundle-id:org.example.app"], "metadata": "metadata"]
    // Files outside the folder have to exist on the machine on which the copy is restored.
    settings["openID"] = ["authority": .string("\(parent.path)/none.pem")]
    try write("server.json", settings.text)
    for (name, setting) in [
      ("tls.pem", "tls.certificate"), ("tls.key", "tls.key"), ("ca.pem", "tls.authority"),
      ("metadata", "uaf.metadata"),
    ] {
      let copy = try DataDirectory(opening: path).backUp(to: "\(parent.path)/copy")
      try FileManager.default.removeItem(atPath: "\(copy.path)/\(name)")
      #expect(throws: DataDirectoryFailure.fileOfSetting(setting, path: "\(copy.path)/\(name)")) {
        try DataDirectory(opening: copy.path).restore(to: "\(parent.path)/again")
      }
      #expect(try names == ["copy", "server"], "\(name)")
      try FileManager.default.removeItem(atPath: copy.path)
    }
    let copy = try DataDirectory(opening: path).backUp(to: "\(parent.path)/copy")
    try Data("no key".utf8).write(to: URL(filePath: "\(copy.path)/admin.key"))
    #expect(throws: DataDirectoryFailure.notAnAPIKey(path: "\(copy.path)/admin.key")) {
      try DataDirectory(opening: copy.path).restore(to: "\(parent.path)/again")
    }
    try FileManager.default.removeItem(atPath: "\(copy.path)/admin.key")
    let restored = try DataDirectory(opening: copy.path).restore(to: "\(parent.path)/again")
    #expect(!restored.files.contains("admin.key") && restored.files.contains("ca.pem"))
  }
}
