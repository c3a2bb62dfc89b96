import Foundation
import SignetDataDirectory
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetTestKit
import Testing

/// A suite in which each test makes and changes a data folder of its own.
protocol DataDirectorySuite {
  /// The parent folder.
  var parent: TemporaryFolder { get }
}

extension DataDirectorySuite {
  /// The path of the data folder.
  var path: String { parent.path + "/server" }

  static func settings(_ url: String = "127.0.0.1:8443/main") throws -> ServerConfigurationFile {
    let policy = try PasswordPolicy(minimumLength: 8, maximumLength: 64)
    return ServerConfigurationFile(
      serverURL: try ServerURL(url),
      profile: ContainerProfile(protection: .password(policy, .lock(limit: 3)), totp: .standard))
  }

  func makeFolder() async throws -> DataDirectory {
    try await DataDirectory.create(at: path, Self.settings())
  }

  /// Opens the folder and returns the failure.
  func failure() -> DataDirectoryFailure? {
    do {
      let folder = try DataDirectory(opening: path)
      _ = try folder.adminKey()
      _ = try folder.transportConfiguration()
      _ = try folder.serviceContext(log: .silent)
      return nil
    } catch { return error }
  }

  func write(_ name: String, _ text: String) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: "\(path)/\(name)"))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  func setMode(_ mode: mode_t, of name: String) { #expect(chmod("\(path)/\(name)", mode) == 0) }

  func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }
}

extension EventLog {
  /// A log without output.
  static let silent = EventLog { _ in }
}
