import Foundation

/// A test's own folder in memory, independent of the location of temporary files; deleted with its last reference.
public final class MemoryFolder: Sendable {
  /// The path of Linux's memory-backed file system for all users.
  private static let root = "/dev/shm"

  /// True if this machine has one.
  public static let isThere = FileManager.default.isWritableFile(atPath: root)

  /// The path of the folder.
  public let path: String

  /// Creates the folder, mode 0700.
  ///
  /// - Throws: The error of the file system.
  public init() throws {
    path = "\(Self.root)/signet-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {}  // the machine cleans up
  }

  /// Returns the names of its entries, sorted.
  public func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }
}
