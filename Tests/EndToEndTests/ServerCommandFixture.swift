import Foundation
import SignetJSON
import SignetTestKit
import Testing

/// A `signet-server serve` that runs as a child, and a folder for it.
final class RunningServer: Sendable {
  let folder: TemporaryFolder
  let port: UInt16
  let process: ChildProcess

  /// The data folder.
  var data: String { "\(folder.path)/data" }
  /// `127.0.0.1:PORT/main`.
  var url: String { "127.0.0.1:\(port)/main" }
  /// What the server wrote to standard error.
  var events: String { process.errorOutputSoFar }
  var processID: Int32 { process.id }

  /// Makes a data folder and serves it on a free port.
  ///
  /// `change` gets the path of the data folder, and its settings, before it is served.
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

  /// It ended instead of serving.
  struct NotReady: Error {
    let status: Int32
    let log: String
  }

  /// Serves a folder that exists, and returns when it is ready.
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

  /// The exit status; negative, the number of the signal.
  func status() async -> Int32 { await process.status() }

  /// Stops it and expects a clean end.
  func stop() async {
    send(SIGTERM)
    #expect(await status() == 0)
  }

  /// Runs an operator's command against it.
  func run(_ words: String...) async throws -> ServerCommand.Result {
    try await ServerCommand.run(words + ["--data", data])
  }

  /// Runs an operator's command that must succeed, with `--json`.
  func json(_ words: String...) async throws -> JSONObject { try await json(words) }

  /// As ``json(_:)``, of words in a list.
  func json(_ words: [String]) async throws -> JSONObject {
    let result = try await ServerCommand.run(words + ["--data", data, "--json"])
    try #require(result.status == 0, result.summary)
    // An audit log may be longer than a message of the protocol.
    let limits = JSONLimits(maximumByteCount: 16 << 20, maximumMemberCount: 1_000_000)
    return try JSONObject(parsing: Array(result.output.utf8), limits: limits)
  }
}

extension FileHandle {
  /// Text up to the first newline, or nil where the end, or ``ChildProcess/limit``, comes before.
  func firstLine() async -> String? {
    await text { $0.firstIndex(of: 0x0A) }
  }

  /// Text up to where `end` says that enough has come, or nil where the end of file, or ``ChildProcess/limit``, comes before.
  func text(until end: @escaping @Sendable ([UInt8]) -> Int?) async -> String? {
    let descriptor = fileDescriptor
    return await withCheckedContinuation { continuation in
      // Reading blocks, which no thread of the shared pool may do.
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

// The methods above hide the C function of that name.
private func systemRead(_ descriptor: Int32, _ byte: inout UInt8) -> Int { read(descriptor, &byte, 1) }
