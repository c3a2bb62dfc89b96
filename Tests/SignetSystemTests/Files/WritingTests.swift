import Foundation
import SignetSystem
import SignetTestKit
import Testing

/// A file exists completely or not at all, and only its owner has access.
@Suite(.timeLimit(.minutes(10))) struct WritingTests: FileSuite {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let steps = PrivateFile.Step.allCases
  private static let namings = [PrivateFile.Naming.replacing, .keeping]

  // MARK: New files

  @Test func makesFilesForTheirOwnerOnlyWhateverTheUmask() async throws {
    await #expect(processExitsWith: .success) { [folder = folder.path as String] in
      umask(0)
      try "a".create(at: folder + "/a")
      try "b".place(at: folder + "/b", .replacing)
      try "c".place(at: folder + "/c", .keeping)
      for name in ["a", "b", "c"] where permissions(of: "\(folder)/\(name)") != 0o600 { exit(2) }
    }
    #expect(try names() == ["a", "b", "c"])
    for name in ["a", "b", "c"] { #expect(try text(at: "\(folder.path)/\(name)") == name) }
  }

  @Test(arguments: ["file", "folder", "link", "link to nothing"])
  func createsNothingWhereSomethingIs(what: String) throws {
    let target = folder.path + "/target"
    switch what {
    case "file": try put("old", mode: 0o644)
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
    }
    if what == "link" { try put("old", at: target) }
    let (before, modeBefore) = (try names(), permissions(of: path))
    #expect(throws: FileFailure.system(call: "open", errno: EEXIST)) { try "new".create(at: path) }
    #expect(throws: FileFailure.system(call: "open", errno: EEXIST)) { _ = try OpenFile(creating: path) }
    #expect(try names() == before)
    #expect(permissions(of: path) == modeBefore)
    if what == "file" || what == "link" { #expect(try text() == "old") }
  }

  @Test func saysThatThereIsNoFolder() {
    let failure = FileFailure.system(call: "open", errno: ENOENT)
    #expect(throws: failure) { try "x".create(at: folder.path + "/none/x") }
    #expect(throws: failure) { try "x".place(at: folder.path + "/none/x", .keeping) }
  }

  // MARK: Placed files

  @Test func replacesAFileAndALink() throws {
    try put("old", mode: 0o644)
    try "new".place(at: path, .replacing)
    #expect((try text(), permissions(of: path)) == ("new", 0o600))
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try "newer".place(at: link, .replacing)
    #expect(try text() == "new")
    #expect((try text(at: link), permissions(of: link)) == ("newer", 0o600))
    #expect(try names() == ["file", "link"])
  }

  @Test func keepsWhatIsThere() throws {
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try "new".place(at: link, .keeping)
    #expect(try names() == ["link"])
    try put("old", mode: 0o640)
    try "new".place(at: path, .keeping)
    #expect((try text(), permissions(of: path)) == ("old", 0o640))
    try "".place(at: folder.path + "/empty", .keeping)
    #expect(try names() == ["empty", "file", "link"])
    #expect(try text(at: folder.path + "/empty").isEmpty)
  }

  @Test func replacesNoFolder() throws {
    let failure = FileFailure.system(call: "rename", errno: EISDIR)
    #expect(throws: failure) { try "x".place(at: folder.path, .replacing) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(permissions(of: folder.path) == 0o700)
  }

  @Test func oneOfFiftyGivesTheContent() async throws {
    let seen = try await withThrowingTaskGroup(of: String.self, returning: Set<String>.self) { group in
      for number in 0..<50 {
        group.addTask {
          try String(repeating: "\(number) ", count: 1_000).place(at: path, .keeping)
          return try text()
        }
      }
      return try await group.reduce(into: []) { $0.insert($1) }
    }
    #expect(seen.count == 1)
    #expect(try names() == ["file"])
  }

  @Test func isWholeWhileFiftyReplaceIt() async throws {
    let texts = (0..<50).map { String(repeating: "\($0) ", count: 10_000) }
    try texts[0].place(at: path, .replacing)
    let seen = try await withThrowingTaskGroup(of: String.self, returning: Set<String>.self) { group in
      for text in texts {
        group.addTask {
          try text.place(at: path, .replacing)
          return try self.text()
        }
      }
      return try await group.reduce(into: []) { $0.insert($1) }
    }
    #expect(seen.isSubset(of: texts))
    #expect(try names() == ["file"])
  }

  // MARK: Broken off

  @Test func isUnchangedUntilItIsWhole() throws {
    try put("old")
    var seen: [PrivateFile.Step] = []
    try "new".place(at: path, .replacing) { step in
      seen.append(step)
      do {
        #expect(try text() == (step == .synchronizeFolder ? "new" : "old"))
        let others = try names().filter { $0 != "file" }
        #expect(others.count == ([.create, .synchronizeFolder].contains(step) ? 0 : 1))
        for name in others {
          #expect(permissions(of: "\(folder.path)/\(name)") == 0o600)
          let isWritten = step == .synchronize || step == .name
          #expect(try text(at: "\(folder.path)/\(name)") == (isWritten ? "new" : ""))
        }
      } catch { Issue.record(error) }
    }
    #expect(seen == Self.steps)
  }

  @Test(arguments: steps, namings)
  func leavesNoTemporaryFileOfAFailure(before step: PrivateFile.Step, naming: PrivateFile.Naming) throws {
    let fault = FileFailure.system(call: "test", errno: ENOSPC)
    for old in [nil, "old"] {
      if let old { try put(old) }
      #expect(throws: fault) {
        try "new".place(at: path, naming) { (current) throws(FileFailure) in
          if current == step { throw fault }
        }
      }
      let isNamed = step == .synchronizeFolder
      let isReplaced = isNamed && (old == nil || naming == .replacing)
      #expect(try names() == (old != nil || isNamed ? ["file"] : []))
      if old != nil || isNamed { #expect(try text() == (isReplaced ? "new" : "old")) }
      if old == nil && isNamed { try FileManager.default.removeItem(atPath: path) }
    }
  }

  /// A killed process leaves the old file or the new one, and its remains do not hinder the next.
  @Test(arguments: 0..<5, [true, false])
  func isOldOrNewAfterACrash(beforeStep index: Int, isReplacing: Bool) async throws {
    if isReplacing { try put("old") }
    await #expect(processExitsWith: .exitCode(77)) {
      [path = path as String, index = index as Int, isReplacing = isReplacing as Bool] in
      let step = PrivateFile.Step.allCases[index]
      try "new".place(at: path, isReplacing ? .replacing : .keeping) { if $0 == step { _exit(77) } }
    }
    let isNamed = Self.steps[index] == .synchronizeFolder
    #expect(FileManager.default.fileExists(atPath: path) == (isReplacing || isNamed))
    if isReplacing || isNamed { #expect(try text() == (isNamed ? "new" : "old")) }
    for name in try names() { #expect(permissions(of: "\(folder.path)/\(name)") == 0o600) }
    try "newer".place(at: path, isReplacing ? .replacing : .keeping)
    #expect(try text() == (isNamed && !isReplacing ? "new" : "newer"))
  }

  /// Like on a full disk: a part is written and the rest fails.
  @Test func leavesNothingOfAFileThatFindsNoRoom() async throws {
    try put("old")
    await #expect(processExitsWith: .success) { [path = path as String] in
      var limit = rlimit(rlim_cur: 100, rlim_max: 100)
      signal(SIGXFSZ, SIG_IGN)
      guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
      let text = String(repeating: "x", count: 101)
      do {
        try text.place(at: path, .replacing)
        exit(3)
      } catch FileFailure.system("write", EFBIG) {}
      do {
        try text.create(at: path + "-another")
        exit(4)
      } catch FileFailure.system("write", EFBIG) {}
      try String(repeating: "y", count: 100).place(at: path + "-fits", .replacing)
    }
    #expect(try text() == "old")
    #expect(try names() == ["file", "file-fits"])
  }

  // MARK: Folders

  @Test func putsTheNamesOfAFolderOnTheDisk() async throws {
    try OpenFile.synchronizeFolder(folder.path)
    #expect(throws: FileFailure.missing) { try OpenFile.synchronizeFolder(path) }
    try put("x")
    #expect(throws: FileFailure.system(call: "open", errno: ENOTDIR)) { try OpenFile.synchronizeFolder(path) }
    let dark = folder.path + "/dark"
    try FileManager.default.createDirectory(atPath: dark, withIntermediateDirectories: false)
    chmod(folder.path, 0o711)
    chmod(dark, 0o333)
    await #expect(processExitsWith: .success) { [dark = dark as String] in
      dropPrivileges()
      try OpenFile.synchronizeFolder(dark)
      try "x".place(at: dark + "/file", .replacing)
    }
    #expect(try text(at: dark + "/file") == "x")
    chmod(dark, 0o700)
  }

  @Test(arguments: [("a", "."), ("/a", "/"), ("/a/b", "/a"), ("a/b/c", "a/b"), ("./a", ".")])
  func namesTheFolderOfAPath(path: String, folder: String) { #expect(folderPath(of: path) == folder) }
}
