#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  import SignetAgent

  @Suite(.timeLimit(.minutes(10))) struct ExecutableRuleTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
      folder = try TemporaryFolder()
      try FileManager.default.createDirectory(atPath: folder.file("bin"), withIntermediateDirectories: false)
      path = folder.file("bin/app")
      try Data("app".utf8).write(to: URL(filePath: path))
      #expect(chmod(path, 0o755) == 0 && chmod(folder.file("bin"), 0o755) == 0)
    }

    private func executable(_ path: String? = nil) throws -> PeerProcess.Executable {
      var status = stat()
      try #require(lstat(path ?? self.path, &status) == 0)
      return PeerProcess.Executable(
        path: path ?? self.path, identity: .init(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
      )
    }

    @Test("a program that only its owner can change is admitted by its path")
    func allowed() throws {
      #expect(ExecutableRule.allows(try executable(), at: path))
      #expect(!ExecutableRule.allows(try executable(), at: folder.file("bin/other")))
    }

    @Test("a program is refused if others can write its file or a parent folder", arguments: [0o775, 0o757])
    func writable(mode: mode_t) throws {
      let found = try executable()
      for place in [path, folder.file("bin"), folder.path] {
        #expect(chmod(place, mode) == 0)
        #expect(!ExecutableRule.allows(found, at: path), "\(place)")
        #expect(chmod(place, 0o755) == 0)
        #expect(ExecutableRule.allows(found, at: path))
      }
    }

    @Test("a program is refused if its file was replaced, is a link or is missing")
    func replaced() throws {
      let found = try executable()
      #expect(rename(path, folder.file("bin/old")) == 0)
      #expect(!ExecutableRule.allows(found, at: path))
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("bin/old"))
      #expect(!ExecutableRule.allows(found, at: path))
      #expect(unlink(path) == 0)
      try Data("other".utf8).write(to: URL(filePath: path))
      #expect(!ExecutableRule.allows(found, at: path))
    }

    @Test(
      "the executable of an ended process is not found, since the process is identified by its /proc folder")
    func ended() throws {
      let process = try ChildCommand(["/bin/cat"], input: .pipe).start()
      guard let peer = PeerProcess(process.id) else {
        Issue.record("the process is not found")
        return
      }
      let running = peer.executable()
      let found = try #require(running)
      #expect(found.path.hasSuffix("/cat"))
      #expect(ExecutableRule.allows(found, at: found.path))
      try process.input.close()
      try process.end()
      let afterwards = peer.executable()
      #expect(afterwards == nil)
      #expect(PeerProcess(process.id)?.executable() == nil)
    }
  }
#endif
