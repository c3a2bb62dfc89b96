import Foundation

/// A test's own folder, deleted with its last reference.
public final class TemporaryFolder: Sendable {
  /// The path of the folder.
  public let path: String

  /// Creates a folder.
  ///
  /// - Parameter mode: Its exact permission bits; a test that drops root's rights and continues in the folder needs 0o777.
  /// - Throws: The error of the file system.
  public init(mode: Int = 0o700) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  deinit {
    do {
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
      try FileManager.default.removeItem(atPath: path)
    } catch {}  // the machine cleans up
  }

  /// Returns the path of a file in the folder, which need not exist.
  public func file(_ name: String) -> String { "\(path)/\(name)" }
}
