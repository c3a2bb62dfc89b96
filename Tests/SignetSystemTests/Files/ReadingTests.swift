import Foundation
import SignetCrypto
import SignetSystem
import SignetTestKit
import Testing

/// A file is checked before it is read, and read completely or not at all.
@Suite(.timeLimit(.minutes(10))) struct ReadingTests: FileSuite {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ rule: FileRule = FileRule(), at path: String? = nil) throws(FileFailure) {
    _ = try OpenFile.reading(path ?? self.path, as: rule)
  }

  // MARK: What a file must be

  @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o601] as [mode_t])
  func refusesWhatOthersHaveAccessTo(mode: mode_t) throws {
    try put("x", mode: mode)
    let failure = FileFailure.openToOthers(mode: UInt32(mode))
    #expect(throws: failure) { try open() }
    #expect(throws: failure) { try FileRule().check(path) }
  }

  @Test func letsOthersReadWhereTheRuleDoes() throws {
    let rule = FileRule(forbiddenMode: 0o022)
    try put("x", mode: 0o644)
    try open(rule)
    #expect(try rule.check(path) == 0o644)
    try put("x", mode: 0o664)
    #expect(throws: FileFailure.openToOthers(mode: 0o664)) { try open(rule) }
  }

  @Test func followsALinkOnlyToAForeignFile() throws {
    try put("x", at: folder.path + "/target")
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.path + "/target")
    #expect(throws: FileFailure.system(call: "open", errno: ELOOP)) { try open() }
    #expect(throws: FileFailure.wrongKind) { try FileRule().check(path) }
    try open(FileRule(.foreignFile))
    try FileRule(.foreignFile).check(path)
    chmod(folder.path + "/target", 0o640)
    #expect(throws: FileFailure.openToOthers(mode: 0o640)) { try open(FileRule(.foreignFile)) }
  }

  @Test(.enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "only root can give files away"))
  func refusesWhatBelongsToAnother() throws {
    try put("x")
    #expect(chown(path, 65_534, 65_534) == 0)
    for rule in [FileRule(), FileRule(.foreignFile)] {
      #expect(throws: FileFailure.ownedByAnother(owner: 65_534)) { try open(rule) }
      #expect(throws: FileFailure.ownedByAnother(owner: 65_534)) { try rule.check(path) }
    }
  }

  @Test(.enabled(if: geteuid() == 0 || ContinuousIntegration.isHere, "only root has files of root's"))
  func readsRootsFileOnlyWhereItIsForeign() async throws {
    try put("x", mode: 0o644)
    chmod(folder.path, 0o755)
    await #expect(processExitsWith: .success) { [path = path as String] in
      dropPrivileges()
      _ = try OpenFile.reading(path, as: FileRule(.foreignFile, forbiddenMode: 0o022))
      do {
        _ = try OpenFile.reading(path, as: FileRule(forbiddenMode: 0o022))
        exit(2)
      } catch FileFailure.ownedByAnother(owner: 0) {}
    }
  }

  @Test func tellsKindsApartAndDoesNotWaitForAPipe() throws {
    #expect(throws: FileFailure.missing) { try open() }
    #expect(throws: FileFailure.missing) { try FileRule(.folder).check(path) }
    #expect(throws: FileFailure.missing) { _ = try OpenFile(reading: path) }
    #expect(throws: FileFailure.wrongKind) { try open(at: folder.path) }
    #expect(mkfifo(path, 0o600) == 0)
    #expect(throws: FileFailure.wrongKind) { try open() }
    #expect(throws: FileFailure.wrongKind) { try open(FileRule(.foreignFile)) }
    #expect(throws: FileFailure.wrongKind) { try FileRule(.folder).check(path) }
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
    #expect(try FileRule(.folder).check(link) == 0o700)
    #expect(throws: FileFailure.system(call: "stat", errno: ENOTDIR)) { try FileRule().check(path + "/x") }
  }

  // MARK: How much is read

  @Test func readsASecretOfItsLength() throws {
    try put("secret")
    let file = try OpenFile.reading(path, as: FileRule())
    #expect(throws: FileFailure.tooLarge) { try file.byteCount(limit: 5) }
    let secret = try SecretBytes(byteCount: file.byteCount(limit: 6)) { (output) throws(FileFailure) in
      try file.fill(&output)
    }
    #expect(secret.insecureCopy() == Array("secret".utf8))
  }

  @Test func refusesAFileThatBecameShorter() throws {
    try put("secret")
    let file = try OpenFile.reading(path, as: FileRule())
    let count = try file.byteCount(limit: 6)
    #expect(truncate(path, 5) == 0)
    #expect(throws: FileFailure.tooShort) {
      _ = try SecretBytes(byteCount: count) { (output) throws(FileFailure) in try file.fill(&output) }
    }
  }

  @Test func readsUpToTheLimit() throws {
    let text = String(repeating: "x", count: 70_000)
    try put(text)
    #expect(try OpenFile(reading: path).contents(limit: 70_000) == Array(text.utf8))
    #expect(throws: FileFailure.tooLarge) { try OpenFile(reading: path).contents(limit: 69_999) }
    #expect(throws: FileFailure.tooLarge) { try OpenFile(reading: "/dev/zero").contents(limit: 100_000) }
    #expect(try OpenFile(reading: "/dev/null").contents(limit: 0).isEmpty)
    let failure = FileFailure.system(call: "read", errno: EISDIR)
    #expect(throws: failure) { try OpenFile(reading: folder.path).contents(limit: 1) }
  }

  /// A pipe returns its content in short reads.
  @Test func putsShortReadsTogether() async throws {
    #expect(mkfifo(path, 0o600) == 0)
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 >> 3) }
    let writer = Thread { [path] in
      guard let file = fopen(path, "w") else { return }
      for start in stride(from: 0, to: bytes.count, by: 7_001) {
        let part = Array(bytes[start..<min(start + 7_001, bytes.count)])
        fwrite(part, 1, part.count, file)
        fflush(file)
      }
      fclose(file)
    }
    writer.start()
    let file = try OpenFile(reading: path)
    let secret = try SecretBytes(byteCount: 200_000) { (output) throws(FileFailure) in try file.fill(&output)
    }
    #expect(secret.insecureCopy() == Array(bytes.prefix(200_000)))
    #expect(try file.contents(limit: 100_000) == Array(bytes.suffix(100_000)))
  }

  // MARK: The system's calls

  @Test func repeatsACallThatASignalInterrupted() {
    var errors = [EINTR, EINTR]
    let result = retrying { () -> Int in
      guard let error = errors.popLast() else { return 7 }
      errno = error
      return -1
    }
    #expect(result == 7)
    var calls = 0
    let failed = retrying { () -> Int32 in
      calls += 1
      errno = EIO
      return -1
    }
    #expect((failed, calls) == (-1, 1))
  }

  @Test func closesEveryFile() async throws {
    try put("x")
    await #expect(processExitsWith: .success) { [path = path as String] in
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(2) }
      for _ in 0..<200 {
        _ = try OpenFile.reading(path, as: FileRule())
        do { _ = try OpenFile.reading(path, as: FileRule(.folder)) } catch FileFailure.wrongKind {}
        try "x".place(at: path, .replacing)
      }
    }
  }

  @Test func saysWhatTheSystemWouldSay() {
    #expect(systemMessage(ENOENT) == "No such file or directory")
    let failures: [FileFailure] = [
      .missing, .wrongKind, .ownedByAnother(owner: 1), .openToOthers(mode: 0o644), .tooLarge, .tooShort,
      .system(call: "open", errno: EROFS),
    ]
    #expect(failures.map(\.code) == [ENOENT, EINVAL, EPERM, EPERM, EFBIG, EIO, EROFS])
  }
}
