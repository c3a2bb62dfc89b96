import Foundation

package enum Programs {
  package struct Missing: Error, CustomStringConvertible {
    package let description: String
  }

  /// The folder of a release's programs: the environment variable `SIGNET_PROGRAMS`, otherwise the folder of the tests.
  package static let folder = ProcessInfo.processInfo.environment["SIGNET_PROGRAMS"] ?? built

  private static let releaseFolder = ProcessInfo.processInfo.environment["SIGNET_RELEASE"] ?? built

  /// The folder of the test bundle, where the build places every program.
  package static let built = {
    let bundle = Bundle(for: Marker.self).bundleURL
    let folders = [bundle, bundle.deletingLastPathComponent()].map(\.path)
    return folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/signet-server") } ?? folders[1]
  }()

  private final class Marker {}

  /// Returns the path of a program of a release.
  ///
  /// - Throws: ``Missing``.
  package static func path(_ name: String) throws -> String { try path(name, in: folder) }

  /// Returns the path of a program that `make release` builds and `make install` does not install.
  ///
  /// It is in the folder that `SIGNET_RELEASE` names, which `Scripts/test` sets for a whole run, otherwise next to the
  /// tests.
  ///
  /// - Throws: ``Missing``.
  package static func released(_ name: String) throws -> String { try path(name, in: releaseFolder) }

  /// Returns the path of a program that is in no release, next to the tests.
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
