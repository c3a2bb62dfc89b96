import Foundation
package import SignetTestKit

/// A program of the system that runs as long as this value lives; what it says goes to a file.
package final class Daemon: Sendable {
  private let process: ChildProcess
  private let log: String

  /// Starts it.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - arguments: What comes after its name.
  ///   - environment: What it gets beside the test's own.
  ///   - folder: Where its file goes.
  ///   - output: The descriptor of where its standard output goes, if not to the file.
  /// - Throws: What the system says.
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

  /// The number of the process.
  package var id: Int32 { process.id }

  /// Ends it the hard way.
  package func kill() { process.kill() }

  /// What it has said so far.
  package var said: String {
    FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
