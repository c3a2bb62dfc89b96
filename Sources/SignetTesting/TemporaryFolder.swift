import Foundation

/// A folder of its own for a test, deleted with its last reference.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let path: String

  /// Makes a folder, mode 0700.
  ///
  /// - Throws: What the file system says.
  public init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("signet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch {}  // the test machine's to clear
  }
}
