import Foundation
public import SignetJSON
import SignetTestKit

/// A program of `Tests/Interop` that speaks the push protocol, written from the description of the protocol alone.
public final class PythonPeer {
  /// A failure between the test and the program.
  public struct Unexpected: Error, CustomStringConvertible {
    /// The description of the failure.
    public let description: String
  }

  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]

  /// Indicates whether the tests run; without the interpreter they are skipped, but fail in CI.
  public static let isWanted = ContinuousIntegration.isHere || python != nil

  /// The program's first message.
  public let greeting: JSONObject
  private let process: ChildProcess
  private var pending = Data()

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - script: Its file in `Tests/Interop`.
  ///   - setup: The setup on its command line.
  /// - Throws: ``Unexpected``.
  public init(_ script: String, _ setup: JSONObject) throws {
    guard let python = Self.python else {
      throw Unexpected(description: "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    }
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Interop/\(script)").standardized.path
    process = try ChildCommand(
      [python, path, JSONValue.object(setup).text], input: .pipe, output: .pipe
    ).start()
    greeting = try Self.line(&pending, process.output)
  }

  deinit {
    do {
      try process.input.close()
      try process.end()
    } catch { print("\(error)") }
  }

  /// Sends a command and waits for its answer.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - value: Its argument.
  /// - Returns: The answer.
  /// - Throws: ``Unexpected`` if the program has ended.
  public func callAsFunction(_ command: String, _ value: JSONValue) throws -> JSONObject {
    var object = JSONObject()
    object[command] = value
    try process.input.write(contentsOf: Data(object.bytes + [0x0A]))
    return try Self.line(&pending, process.output)
  }

  private static func line(_ pending: inout Data, _ output: FileHandle) throws -> JSONObject {
    while true {
      if let end = pending.firstIndex(of: 10) {
        let line = Array(pending[..<end])
        pending = Data(pending[(end + 1)...])
        return try JSONObject(parsing: line)
      }
      let part = output.availableData
      guard !part.isEmpty else { throw Unexpected(description: "the program ended") }
      pending += part
    }
  }
}
