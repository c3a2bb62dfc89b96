#if os(Linux)
  import Foundation
  import SignetTestKit
  import Testing

  /// `signet-manifest` as a release build runs it.
  @Suite(.timeLimit(.minutes(10))) struct ManifestCommandTests {
    private func run(_ words: String...) throws -> (status: Int32, lines: [String]) {
      let path = try Programs.released("signet-manifest")
      let process = try WatchedProcess([path] + words)
      let status = process.status()
      return (status, process.finishedLines())
    }

    @Test("a key is made once, signs an installation, and detects later changes")
    func signsAndVerifies() throws {
      let folder = try TemporaryFolder()
      let (key, manifest) = (folder.file("release.key"), folder.file("release.manifest"))
      let (first, second) = (folder.file("signet"), folder.file("signet-server"))
      try Data("one".utf8).write(to: URL(filePath: first))
      try Data("two".utf8).write(to: URL(filePath: second))
      let made = try run("key", key)
      let digits = try #require(made.lines.first)
      #expect(made.status == 0 && digits.count == 130 && digits.hasPrefix("04"))
      #expect(try run("key", key).lines == [digits])
      #expect(permissions(of: key) == 0o600)
      #expect(try run("sign", "--key", key, "--output", manifest, first, second).status == 0)
      let verify = { try run("verify", "--public-key", digits, "--manifest", manifest, first, second) }
      let whole = try verify()
      #expect(whole.status == 0 && whole.lines.count == 2)
      #expect(
        whole.lines.allSatisfy { $0.hasSuffix(": matches release 0.1.0 (release)") }, "\(whole.lines)")
      try Data("twø".utf8).write(to: URL(filePath: second))
      let changed = try verify()
      #expect(
        changed.status == 1 && changed.lines[1].hasSuffix("DOES NOT match release 0.1.0"), "\(changed.lines)")
      // Another key's manifest is rejected.
      let other = try #require(try run("key", folder.file("other.key")).lines.first)
      #expect(try run("verify", "--public-key", other, "--manifest", manifest, first).status == 65)
      #expect(try run("verify", "--public-key", "04", "--manifest", manifest, first).status == 64)
    }

    @Test(
      "a program signed by the release step finds its manifest; a changed copy is refused"
    )
    func releaseStep() async throws {
      let folder = try TemporaryFolder(mode: 0o755)
      let (key, program) = (folder.file("release.key"), folder.file("signet"))
      let tool = try Programs.released("signet-manifest")
      try FileManager.default.copyItem(atPath: tool, toPath: folder.file("signet-manifest"))
      for name in ["signet", "signet-server"] {
        try FileManager.default.copyItem(atPath: Victim.path(), toPath: folder.file(name))
      }
      let digits = try #require(try run("key", key).lines.first)
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
      func sign() throws -> Int32 {
        try WatchedProcess(
          ["\(root)/Scripts/release", "sign", folder.path],
          environment: ["PATH": "/usr/bin:/bin", "RELEASE_KEY": key]
        ).status()
      }
      func findings(_ program: String) throws -> (lines: [String], status: Int32) {
        let process = try WatchedProcess([program, "--key", digits, "--only", "binary", "clean", "1"])
        let status = process.status()
        return (process.finishedLines(), status)
      }
      let unsigned = try findings(program)
      #expect(unsigned.lines.first?.contains(#""finding":"binary.missing-manifest""#) == true, "\(unsigned)")
      #expect(try sign() == 0)
      for name in ["signet.manifest", "signet-server.manifest"] {
        #expect(FileManager.default.fileExists(atPath: folder.file(name)), "\(name)")
      }
      #expect(try findings(program) == (["done 1"], 0))
      var bytes = try #require(FileManager.default.contents(atPath: program))
      let place = try #require(bytes.firstRange(of: Data("admitted, score ".utf8)))
      bytes[place.lowerBound] ^= 0x20
      try FileManager.default.removeItem(atPath: program)
      try bytes.write(to: URL(filePath: program))
      #expect(chmod(program, 0o755) == 0)
      let changed = try findings(program)
      #expect(changed.lines.first?.contains(#""finding":"binary.changed""#) == true, "\(changed)")
      #expect(changed.lines.first?.contains(#""tampered":true"#) == true, "\(changed)")
      // Signed by the same step with another key, it is a forgery.
      #expect(try run("key", folder.file("other.key")).status == 0)
      #expect(rename(folder.file("other.key"), key) == 0)
      #expect(try sign() == 0)
      #expect(try findings(program).lines.first?.contains(#""finding":"binary.forged-manifest""#) == true)
    }

    @Test("a readable key, a missing key and a missing program have different errors")
    func refusals() throws {
      let folder = try TemporaryFolder()
      let (key, program) = (folder.file("key"), folder.file("program"))
      try Data("x".utf8).write(to: URL(filePath: program))
      #expect(try run("key", key).status == 0)
      #expect(chmod(key, 0o644) == 0)
      let open = try run("sign", "--key", key, "--output", folder.file("m"), program)
      #expect(open.status == 77 && open.lines.contains { $0.contains("chmod 600") }, "\(open.lines)")
      #expect(chmod(key, 0o600) == 0)
      #expect(try run("sign", "--key", key, "--output", folder.file("m"), folder.file("none")).status == 66)
      try Data("no key\n".utf8).write(to: URL(filePath: key))
      #expect(try run("sign", "--key", key, "--output", folder.file("m"), program).status == 65)
      #expect(
        try run("sign", "--key", folder.file("none"), "--output", folder.file("m"), program).status == 66)
      #expect(!FileManager.default.fileExists(atPath: folder.file("m")))
    }
  }
#endif
