import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// A `signet-server serve` that runs as a child process, and its folder.
final class RunningServer: Sendable {
  let folder: TemporaryFolder
  let port: UInt16
  let process: ChildProcess

  /// The data folder.
  var data: String { "\(folder.path)/data" }
  /// `127.0.0.1:PORT/main`.
  var url: String { "127.0.0.1:\(port)/main" }
  /// The server's standard error so far.
  var events: String { process.errorOutputSoFar }
  var processID: Int32 { process.id }

  /// Makes a data folder and serves it on a free port.
  ///
  /// `change` gets the path and the settings of the data folder before it is served.
  static func start(
    _ initWords: [String] = [],
    _ change: ((_ data: String, _ settings: inout JSONObject) throws -> Void)? = nil
  ) async throws -> RunningServer {
    let folder = try TemporaryFolder()
    let port = try FreePort.find()
    try await InitializedFolder.make(initWords, port, in: folder)
    if let change {
      let data = folder.file("data")
      try changeSettings(of: data) { settings in try change(data, &settings) }
    }
    return try await RunningServer(folder, port)
  }

  /// The server ended before it was ready.
  struct NotReady: Error {
    let status: Int32
    let log: String
  }

  /// Serves an existing folder, and returns when the server is ready.
  ///
  /// `launcher` is a program, with its first arguments, that becomes the server.
  init(
    _ folder: TemporaryFolder, _ port: UInt16, _ words: [String] = [], launcher: [String] = []
  ) async throws {
    self.folder = folder
    self.port = port
    var command = try ServerCommand.process(["serve", "--data", "\(folder.path)/data"] + words)
    command.line = launcher + command.line
    command.output = .pipe
    process = try command.start()
    guard let line = await process.output.firstLine(), line.hasPrefix("listening on ") else {
      throw NotReady(status: await process.status(), log: process.errorOutputSoFar)
    }
  }

  deinit { process.send(SIGTERM) }

  func send(_ signal: Int32) { #expect(process.send(signal)) }

  /// Waits for the exit status; a negative one is the number of the signal.
  func status() async -> Int32 { await process.status() }

  /// Stops the server and expects a clean exit.
  func stop() async {
    send(SIGTERM)
    #expect(await status() == 0)
  }

  /// Runs an operator's command with this server.
  func run(_ words: String...) async throws -> ServerCommand.Result {
    try await ServerCommand.run(words + ["--data", data])
  }

  /// Runs an operator's command that must succeed, with `--json`.
  func json(_ words: String...) async throws -> JSONObject { try await json(words) }

  /// Does the same as ``json(_:)`` with a list of words.
  func json(_ words: [String]) async throws -> JSONObject {
    let result = try await ServerCommand.run(words + ["--data", data, "--json"])
    try #require(result.status == 0, result.summary)
    // An audit log may be longer than a message of the protocol.
    let limits = JSONLimits(maximumByteCount: 16 << 20, maximumMemberCount: 1_000_000)
    return try JSONObject(parsing: Array(result.output.utf8), limits: limits)
  }
}

extension FileHandle {
  /// Returns the text up to the first newline; `nil` if the end of the file, or ``ChildProcess/limit``, comes first.
  func firstLine() async -> String? {
    await text { $0.firstIndex(of: 0x0A) }
  }

  /// Returns the text up to the end that `end` finds; `nil` if the end of the file, or ``ChildProcess/limit``, comes first.
  func text(until end: @escaping @Sendable ([UInt8]) -> Int?) async -> String? {
    let descriptor = fileDescriptor
    return await withCheckedContinuation { continuation in
      // Reading blocks, which is not allowed on the shared thread pool.
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        let deadline = ContinuousClock.now + ChildProcess.limit
        while true {
          if let count = end(bytes) {
            return continuation.resume(returning: String(decoding: bytes[..<count], as: UTF8.self))
          }
          var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          let ready = poll(&readable, 1, 1000)
          if ContinuousClock.now > deadline { return continuation.resume(returning: nil) }
          if ready == 0 || ready < 0 && errno == EINTR { continue }
          var byte: UInt8 = 0
          let count = systemRead(descriptor, &byte)
          if count < 0 && errno == EINTR { continue }
          guard count == 1 else { return continuation.resume(returning: nil) }
          bytes.append(byte)
        }
      }
    }
  }
}

// The methods above hide the C function of this name.
private func systemRead(_ descriptor: Int32, _ byte: inout UInt8) -> Int { read(descriptor, &byte, 1) }

extension ChildProcess {
  /// Waits for the exit status; a negative one is the number of the signal.
  ///
  /// A child that does not end in time is an issue of the test.
  func status() async -> Int32 {
    do { return try await end() } catch {
      Issue.record(error)
      return .min
    }
  }
}

extension RunningServer {
  /// Kills the server and waits until it has ended.
  func killAndWait() async {
    send(SIGKILL)
    _ = await status()
  }

  /// The memory of the process in KiB: `VmRSS`, or its highest value so far, `VmHWM` (proc(5)).
  func memory(_ name: String = "VmRSS") throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("\(name):") })
    return try #require(Int(line.filter(\.isNumber)))
  }
}
