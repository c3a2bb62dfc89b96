import Foundation

/// A folder of its own for a test, in memory whatever temporary files are in; deleted with its last reference.
public final class MemoryFolder: Sendable {
  /// Where Linux has a file system in memory for everybody.
  private static let place = "/dev/shm"

  /// Whether this machine has one.
  public static let isThere = FileManager.default.isWritableFile(atPath: place)

  /// Where the folder is.
  public let path: String

  /// Makes a folder, mode 0700.
  ///
  /// - Throws: What the file system says.
  public init() throws {
    path = "\(Self.place)/signet-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {}  // the test machine's to clear
  }

  /// What is in it, in order.
  public func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}
