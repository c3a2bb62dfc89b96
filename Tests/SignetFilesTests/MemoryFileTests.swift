import SignetFiles
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
    #expect(try MemoryFile.isPlace(memory.path))
    withExtendedLifetime(memory) {}
  }

  @Test("one process holds a folder alone, or several share it")
  func holds() throws {
    let folder = try TemporaryFolder()
    let alone = try #require(try FolderHold(folder.path, .alone))
    #expect(try FolderHold(folder.path, .alone) == nil && FolderHold(folder.path, .shared) == nil)
    withExtendedLifetime(alone) {}
    let other = try TemporaryFolder()
    let first = try #require(try FolderHold(other.path, .shared))
    var second = try FolderHold(other.path, .shared)
    #expect(second != nil)
    #expect(try FolderHold(other.path, .alone) == nil)
    second = nil
    #expect(try first.becomesAlone())
    #expect(throws: FileFailure.missing) { try FolderHold("\(folder.path)/none", .alone) }
  }
}
