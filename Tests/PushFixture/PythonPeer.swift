import Foundation
public import SignetJSON
import SignetTestKit

/// A program of `Tests/Interop`, which answers each line of JSON with a line of JSON.
public final class PythonPeer: Sendable {
  /// The program cannot start.
  public struct Unexpected: Error, CustomStringConvertible {
    /// The description of the failure.
    public let description: String
  }

  private static let python = ProcessInfo.processInfo.environment["SIGNET_PYTHON"]

  /// Indicates whether the tests run; without the interpreter they are skipped, but fail in CI.
  public static let isWanted = ContinuousIntegration.isHere || python != nil

  /// The program's first message.
  public let greeting: JSONObject
  private let process: LineProcess

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - script: Its file in `Tests/Interop`.
  ///   - setup: The setup on its command line.
  /// - Throws: ``Unexpected`` without an interpreter; `LineProcess.Ended` if the program ends at once.
  public init(_ script: String, _ setup: JSONObject) throws {
    guard let python = Self.python else {
      throw Unexpected(description: "SIGNET_PYTHON names no interpreter; Scripts/test sets it")
    }
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Interop/\(script)").standardized.path
    process = try LineProcess(ChildCommand([python, path, JSONValue.object(setup).text]))
    greeting = try Self.object(process.readLine())
  }

  /// Sends a command and waits for its answer.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - value: Its argument.
  /// - Returns: The answer.
  /// - Throws: `LineProcess.Ended` if the program has ended.
  public func callAsFunction(_ command: String, _ value: JSONValue) throws -> JSONObject {
    var object = JSONObject()
    object[command] = value
    return try Self.object(process.ask(JSONValue.object(object).text))
  }

  private static func object(_ line: String) throws -> JSONObject {
    try JSONObject(parsing: Array(line.utf8))
  }
}
