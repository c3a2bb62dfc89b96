import Foundation

/// A program that is told and asked one line at a time; it ends when its input does.
final class LineProcess {
  private let name: String
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []

  /// A program did not answer.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The path of this program, which is started again for what needs a process of its own.
  static var ownPath: String {
    get throws {
      guard let path = Bundle.main.executablePath else {
        throw LineProcess.Failure(description: "the path of this program is not known")
      }
      return path
    }
  }

  init(_ path: String, _ arguments: [String] = []) throws {
    name = URL(fileURLWithPath: path).lastPathComponent
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  deinit {
    do { try input.fileHandleForWriting.close() } catch { process.terminate() }
    process.waitUntilExit()
  }

  /// Sends a line that has no answer.
  func tell(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Sends a line and waits for the answer.
  func ask(_ line: String) throws -> String {
    try tell(line)
    return try readLine()
  }

  func readLine() throws -> String {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread.removeFirst(end + 1)
        return line
      }
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw Failure(description: "\(name) ended without an answer") }
      unread += data
    }
  }
}
