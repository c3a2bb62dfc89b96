import Foundation
package import SignetTestKit

/// A system program that runs as long as this value lives; its output goes to a file.
package final class Daemon: Sendable {
  private let process: ChildProcess
  private let log: String

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: Its arguments.
  ///   - environment: Variables in addition to the test's own.
  ///   - folder: The folder of the output file.
  ///   - output: The descriptor for its standard output; `nil` for the file.
  /// - Throws: Errors of the system.
  package init(
    _ path: String, _ arguments: [String], environment: [String: String] = [:], folder: TemporaryFolder,
    output: Int32? = nil
  ) throws {
    log = folder.file("\(URL(filePath: path).lastPathComponent)-\(UUID().uuidString).log")
    _ = FileManager.default.createFile(atPath: log, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: log))
    defer { try? file.close() }  // the child has its own
    process = try ChildCommand(
      [path] + arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      output: .descriptor(output ?? file.fileDescriptor), errorOutput: .descriptor(file.fileDescriptor)
    ).start()
  }

  deinit { kill() }

  /// The process ID.
  package var id: Int32 { process.id }

  /// Kills the process.
  package func kill() { process.kill() }

  /// The output so far.
  package var said: String {
    FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
