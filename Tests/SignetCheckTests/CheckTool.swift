import Foundation
import SignetJSON
import Testing

/// The built executable, which lies beside the test bundle.
enum CheckTool {
  private final class Marker {}

  private static let path = candidates.map { $0.path }.first(where: FileManager.default.isExecutableFile)

  private static var candidates: [URL] {
    let bundle = Bundle(for: Marker.self).bundleURL
    return [bundle, bundle.deletingLastPathComponent()].map { $0.appending(path: "signet-check") }
  }

  /// A process that is ready to start.
  static func process(_ arguments: [String] = []) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: try #require(path, "build signet-check first"))
    process.arguments = arguments
    return process
  }

  /// What it writes for `input`, and how it ended.
  ///
  /// The input is a file, so that neither side waits for the other.
  static func run(_ input: [UInt8], _ arguments: [String] = []) throws -> (output: [UInt8], status: Int32) {
    let file = FileManager.default.temporaryDirectory.appending(path: "signet-check-\(UUID().uuidString)")
    try Data(input).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }  // left behind at worst, in a folder for that
    let process = try process(arguments)
    let output = Pipe()
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return (Array(bytes), status)
  }

  /// The answers to lines of any bytes, one each.
  static func answers(to lines: [[UInt8]]) throws -> [JSONObject] {
    let (output, status) = try run(lines.flatMap { $0 + [0x0A] })
    #expect(status == 0)
    let limits = JSONLimits(maximumDepth: 128, maximumByteCount: 1 << 22, maximumMemberCount: 1 << 17)
    return try output.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map {
      try JSONObject(parsing: Array($0), limits: limits)
    }
  }

  /// The answers to requests.
  static func answers(to requests: [JSONObject]) throws -> [JSONObject] {
    try answers(to: requests.map(\.bytes))
  }

  /// The answer to one request.
  static func answer(to request: JSONObject) throws -> JSONObject {
    let answers = try answers(to: [request])
    #expect(answers.count == 1)
    return try #require(answers.first)
  }
}

extension JSONObject {
  /// `code` of `error`, or nil.
  var errorCode: String? {
    guard case .object(let error) = self["error"], case .string(let code) = error["code"] else { return nil }
    return code
  }

  /// `ok`, or nil.
  var ok: JSONObject? {
    guard case .object(let ok) = self["ok"] else { return nil }
    return ok
  }
}
