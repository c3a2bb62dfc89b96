import Foundation
import Synchronization
import Testing

/// The built `signet-server`, which lies beside the test bundle.
enum ServerCommand {
  /// How a run ended.
  struct Result: Sendable {
    /// The exit status; negative, the number of the signal that ended it.
    let status: Int32
    let output: String
    let errorOutput: String
  }

  private final class Marker {}

  private static let path = candidates.map(\.path).first(where: FileManager.default.isExecutableFile)

  private static var candidates: [URL] {
    let bundle = Bundle(for: Marker.self).bundleURL
    return [bundle, bundle.deletingLastPathComponent()].map { $0.appending(path: "signet-server") }
  }

  /// A process that is ready to start, in an environment without variables of Signet's.
  static func process(_ words: [String], _ environment: [String: String] = [:]) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: try executable())
    process.arguments = words
    process.environment = cleanEnvironment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    return process
  }

  static func executable() throws -> String { try #require(path, "build signet-server first") }

  static var cleanEnvironment: [String: String] {
    // Tests leave the machine's TPM alone.
    ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SIGNET_") && $0.key != "COLUMNS" }
      .merging(["SIGNET_TPM": "none"]) { $1 }
  }

  /// Runs it to its end.
  static func run(_ words: String..., environment: [String: String] = [:]) async throws -> Result {
    try await run(words, environment)
  }

  static func run(_ words: [String], _ environment: [String: String] = [:]) async throws -> Result {
    try await finish(try process(words, environment))
  }

  /// Starts a process and waits for its end; its output goes to files, so that nobody waits for a reader.
  static func finish(_ process: Process) async throws -> Result {
    let (output, errorOutput) = (try ScratchFile(), try ScratchFile())
    process.standardOutput = output.handle
    process.standardError = errorOutput.handle
    let end = ProcessEnd(process)
    try process.run()
    return Result(
      status: await end.status(), output: try output.text(), errorOutput: try errorOutput.text())
  }
}

/// Waits for the end of a process without holding a thread.
final class ProcessEnd: Sendable {
  private let statuses: AsyncStream<Int32>

  /// Before the process starts.
  init(_ process: Process) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    statuses = stream
    process.terminationHandler = { process in
      let status = process.terminationStatus
      continuation.yield(process.terminationReason == .exit ? status : -status)
      continuation.finish()
    }
  }

  /// The exit status; negative, the number of the signal; to be asked once.
  func status() async -> Int32 {
    for await status in statuses { return status }
    return .min
  }
}

/// A file that is deleted with its last reference.
final class ScratchFile: Sendable {
  let path: String
  let handle: FileHandle

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    handle = try FileHandle(forUpdating: URL(filePath: path))
  }

  /// Closed here: a `Process` that the handle was given to keeps it for good.
  deinit {
    unlink(path)
    do { try handle.close() } catch {}  // closed already
  }

  func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}
