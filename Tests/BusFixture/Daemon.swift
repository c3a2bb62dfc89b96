package import Foundation
package import SignetTestKit

/// A program of the system that runs as long as this value lives; what it says goes to a file.
package final class Daemon: Sendable {
  private let process: Process
  private let log: String

  /// Starts it.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: What comes after its name.
  ///   - environment: What it gets beside the test's own.
  ///   - folder: Where its file goes.
  ///   - output: Where its standard output goes, if not to the file.
  /// - Throws: What Foundation says.
  package init(
    _ path: String, _ arguments: [String], environment: [String: String] = [:], folder: TemporaryFolder,
    output: Pipe? = nil
  ) throws {
    log = folder.file("\(URL(filePath: path).lastPathComponent)-\(UUID().uuidString).log")
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: log))
    defer { try? file.close() }  // the child has its own
    process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output ?? file
    process.standardError = file
    try process.run()
  }

  deinit { kill() }

  /// The number of the process.
  package var id: Int32 { process.processIdentifier }

  /// Ends it the hard way.
  package func kill() {
    if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
  }

  /// What it has said so far.
  package var said: String {
    FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
