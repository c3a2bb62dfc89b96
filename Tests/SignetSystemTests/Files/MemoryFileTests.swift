import Foundation
import SignetSystem
import SignetTestKit
import Testing

@Suite struct MemoryFileTests {
  @Test(
    "which file systems are in memory",
    arguments: [
      ("0:25", true), ("0:30", true), ("8:1", false), ("0:31", false), ("0:2", false), ("", false),
    ])
  func readsMounts(_ device: String, isInMemory: Bool) {
    let mounts = """
      22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      25 22 0:25 / /run rw,nosuid shared:2 - tmpfs tmpfs rw,mode=755
      26 22 0:30 / /r rw - ramfs none rw
      27 22 0:31 / /o rw -
      """
    #expect(MemoryFile.isInMemory(device, mounts: mounts) == isInMemory)
  }

  @Test("a folder in memory is found to be one", .enabled(if: MemoryFolder.isThere))
  func findsMemory() throws {
    let memory = try MemoryFolder()
    #expect(try OpenFolder(memory.path, as: FileRule(.folder)).isInMemory())
    #expect(try !OpenFolder("/usr/lib", as: FileRule(.foreignFolder, forbiddenMode: 0o022)).isInMemory())
    withExtendedLifetime(memory) {}
  }

  @Test("operations in an open folder stay in it, even if its path was replaced")
  func staysInTheFolder() throws {
    let parent = try TemporaryFolder()
    let (path, moved) = (parent.file("keys"), parent.file("moved"))
    func make() throws {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }
    try make()
    let folder = try OpenFolder(path, as: FileRule(.folder))
    try FileManager.default.moveItem(atPath: path, toPath: moved)
    try make()
    try Data("not it".utf8).write(to: URL(filePath: "\(path)/a"))
    try folder.create("a", Array("content".utf8).span.bytes)
    #expect(throws: FileFailure.self) { try folder.create("a", [1].span.bytes) }
    #expect(try folder.names() == ["a"] && folder.names() == ["a"])
    #expect(try Data(contentsOf: URL(filePath: "\(moved)/a")) == Data("content".utf8))
    #expect(try folder.reading("a", as: FileRule()).contents(limit: 7) == Array("content".utf8))
    // A link is followed neither to read nor to overwrite.
    try FileManager.default.createSymbolicLink(atPath: "\(moved)/link", withDestinationPath: "\(path)/a")
    #expect(throws: FileFailure.self) { _ = try folder.reading("link", as: FileRule()) }
    #expect(throws: FileFailure.self) { try folder.forget("link", byteCount: 7) }
    let other = "\(moved)/second"
    try FileManager.default.linkItem(atPath: "\(moved)/a", toPath: other)
    try folder.forget("a", byteCount: 7)
    try folder.forget("a", byteCount: 7)
    #expect(try folder.names() == ["link", "second"])
    #expect(try Data(contentsOf: URL(filePath: other)) == Data(count: 7))
    #expect(try Data(contentsOf: URL(filePath: "\(path)/a")) == Data("not it".utf8))
  }

  @Test("a folder that others may read, a file in its place and none are refused")
  func refusesFolders() throws {
    let parent = try TemporaryFolder()
    #expect(throws: FileFailure.missing) { try OpenFolder(parent.file("none"), as: FileRule(.folder)) }
    try Data().write(to: URL(filePath: parent.file("file")))
    #expect(throws: FileFailure.wrongKind) { try OpenFolder(parent.file("file"), as: FileRule(.folder)) }
    try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: parent.path)
    #expect(throws: FileFailure.openToOthers(mode: 0o750)) {
      try OpenFolder(parent.path, as: FileRule(.folder))
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: parent.path)
  }

  @Test("one process holds a folder alone, or several share it")
  func holds() throws {
    let folder = try TemporaryFolder()
    let alone = try #require(try FolderHold(folder.path, .exclusive))
    #expect(try FolderHold(folder.path, .exclusive) == nil && FolderHold(folder.path, .shared) == nil)
    withExtendedLifetime(alone) {}
    let other = try TemporaryFolder()
    let first = try #require(try FolderHold(other.path, .shared))
    var second = try FolderHold(other.path, .shared)
    #expect(second != nil)
    #expect(try FolderHold(other.path, .exclusive) == nil)
    second = nil
    #expect(try first.makeExclusive())
    #expect(throws: FileFailure.missing) { try FolderHold("\(folder.path)/none", .exclusive) }
  }
}
