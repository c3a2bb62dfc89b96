import Foundation
import SignetTestKit
import Testing

/// The `openssl` command line, an independent implementation.
struct OpenSSLCommand {
  struct Failed: Error, CustomStringConvertible {
    let arguments: [String]
    let description: String
  }

  static let executable: URL? = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return path.split(separator: ":")
      .map { URL(fileURLWithPath: String($0)).appendingPathComponent("openssl") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }()

  /// Indicates whether the tests run; without the program they are skipped, but fail in CI.
  static var isWanted: Bool { executable != nil || ContinuousIntegration.isHere }

  /// A separate folder for each use, removed by `withFolder`.
  let folder: URL

  static func withFolder<R>(_ body: (OpenSSLCommand) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("signet-crypto-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(at: folder) } catch { print("left behind: \(folder.path)") }
    }
    return try body(OpenSSLCommand(folder: folder))
  }

  /// Runs `openssl` in the folder; throws its output unless its status is 0.
  @discardableResult
  func run(_ arguments: String...) throws -> String {
    try run(arguments)
  }

  @discardableResult
  func run(_ arguments: [String]) throws -> String {
    let executable: URL = try #require(Self.executable, "install openssl")
    let result = try ChildCommand([executable.path] + arguments, folder: folder.path, errorOutput: .joined)
      .finish()
    guard result.status == 0 else { throw Failed(arguments: arguments, description: result.output) }
    return result.output
  }

  func write(_ name: String, _ content: [UInt8]) throws {
    try Data(content).write(to: folder.appendingPathComponent(name))
  }

  func read(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
  }
}
