import Foundation

/// A folder of its own for a test, deleted with its last reference.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let path: String

  /// Makes a folder.
  ///
  /// - Parameter mode: Its permission bits, exactly; a test that gives up root's rights and goes on in the folder
  ///   takes 0o777.
  /// - Throws: What the file system says.
  public init(mode: Int = 0o700) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  deinit {
    do {
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
      try FileManager.default.removeItem(atPath: path)
    } catch {}  // the test machine's to clear
  }

  /// The path of a file in the folder, which need not exist.
  public func file(_ name: String) -> String { "\(path)/\(name)" }
}
