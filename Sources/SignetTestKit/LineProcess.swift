import Foundation
import Synchronization

/// A child process that answers a line with a line, and ends with its input.
package final class LineProcess: Sendable {
  /// The process ended without an answer.
  package struct Ended: Error, CustomStringConvertible {
    package let description: String
  }

  /// The program and its first argument.
  private let name: String
  private let process: ChildProcess
  /// The bytes read after the last complete line.
  private let unread = Mutex<[UInt8]>([])

  /// Starts a command; its input and output become pipes.
  ///
  /// - Throws: ``ChildProcess/NotStarted``.
  package init(_ command: ChildCommand) throws {
    var command = command
    command.input = .pipe
    command.output = .pipe
    name = command.line.prefix(2).joined(separator: " ")
    process = try command.start()
  }

  deinit {
    do { try close() } catch { print("\(error)") }
  }

  /// Sends a line that has no answer.
  ///
  /// - Throws: The error of the pipe.
  package func send(_ line: String) throws {
    try process.input.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Sends a line and waits for the answer.
  ///
  /// - Returns: The answer, without its newline.
  /// - Throws: ``Ended``, and the error of the pipe.
  package func ask(_ line: String) throws -> String {
    try send(line)
    return try readLine()
  }

  /// Waits for the next line.
  ///
  /// - Returns: The line, without its newline.
  /// - Throws: ``Ended``.
  package func readLine() throws -> String {
    try unread.withLock { unread in
      while true {
        if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: unread[..<end], as: UTF8.self)
          unread.removeFirst(end + 1)
          return line
        }
        let part = process.output.availableData
        guard !part.isEmpty else { throw Ended(description: "\(name) ended without an answer") }
        unread += part
      }
    }
  }

  /// Closes the input and waits for the end; a second call does nothing.
  ///
  /// - Throws: ``ChildProcess/Overdue``, and the error of the pipe.
  package func close() throws {
    try process.input.close()
    try process.end()
  }
}
