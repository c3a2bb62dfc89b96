import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// The built executable, which is next to the test bundle.
enum CheckTool {
  /// Prepares a process.
  static func process(_ arguments: [String] = []) throws -> ChildCommand {
    ChildCommand([try Programs.built("signet-check")] + arguments)
  }

  /// Runs it with `input`; returns its output and exit status.
  static func run(_ input: [UInt8], _ arguments: [String] = []) throws -> (output: [UInt8], status: Int32) {
    var process = try process(arguments)
    process.input = .bytes(input)
    let result = try process.finish(within: .seconds(600))
    return (result.outputBytes, result.status)
  }

  /// Returns the answers to lines of any bytes, one each.
  static func answers(to lines: [[UInt8]]) throws -> [JSONObject] {
    let (output, status) = try run(lines.flatMap { $0 + [0x0A] })
    #expect(status == 0)
    let limits = JSONLimits(maximumDepth: 128, maximumByteCount: 1 << 22, maximumMemberCount: 1 << 17)
    return try output.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map {
      try JSONObject(parsing: Array($0), limits: limits)
    }
  }

  /// Returns the answers to requests.
  static func answers(to requests: [JSONObject]) throws -> [JSONObject] {
    try answers(to: requests.map(\.bytes))
  }

  /// Returns the answer to one request.
  static func answer(to request: JSONObject) throws -> JSONObject {
    let answers = try answers(to: [request])
    #expect(answers.count == 1)
    return try #require(answers.first)
  }
}

extension JSONObject {
  /// The `code` of `error`, or `nil`.
  var errorCode: String? {
    guard case .object(let error) = self["error"], case .string(let code) = error["code"] else { return nil }
    return code
  }

  /// The value of `ok`, or `nil`.
  var ok: JSONObject? {
    guard case .object(let ok) = self["ok"] else { return nil }
    return ok
  }
}
