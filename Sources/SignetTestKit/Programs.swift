import Foundation

/// The programs that tests run.
package enum Programs {
  /// The program is not there.
  package struct Missing: Error, CustomStringConvertible {
    /// Where it was looked for.
    package let description: String
  }

  /// Where the programs of a release are: in the folder that the environment's `SIGNET_PROGRAMS` names, else beside the tests.
  package static let folder = ProcessInfo.processInfo.environment["SIGNET_PROGRAMS"] ?? built

  private static let releaseFolder = ProcessInfo.processInfo.environment["SIGNET_RELEASE"] ?? built

  /// The folder of the test bundle, where the build places every program.
  package static let built = {
    let bundle = Bundle(for: Marker.self).bundleURL
    let folders = [bundle, bundle.deletingLastPathComponent()].map(\.path)
    return folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/signet-server") } ?? folders[1]
  }()

  private final class Marker {}

  /// The path of a program of a release.
  ///
  /// - Throws: ``Missing``.
  package static func path(_ name: String) throws -> String { try path(name, in: folder) }

  /// The path of a program that `make release` makes and `make install` leaves with the source: in the folder that the environment's
  /// `SIGNET_RELEASE` names, as `Scripts/test` does for a whole run, else beside the tests.
  ///
  /// - Throws: ``Missing``.
  package static func released(_ name: String) throws -> String { try path(name, in: releaseFolder) }

  /// The path of a program that no release has, which lies beside the tests.
  ///
  /// - Throws: ``Missing``.
  package static func built(_ name: String) throws -> String { try path(name, in: built) }

  private static func path(_ name: String, in folder: String) throws -> String {
    let path = "\(folder)/\(name)"
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw Missing(description: "there is no \(path); build \(name) first")
    }
    return path
  }
}
