#if os(Linux)
  import Foundation
  import SignetJSON
  import SignetTestKit
  import Synchronization
  import Testing

  /// A process whose output lines are read from its start to its end; killed with the last reference.
  final class WatchedProcess: Sendable {
    var id: Int32 { process.id }
    private let process: ChildProcess
    private let seen = Mutex<[String]>([])
    private let isAtEnd = DispatchSemaphore(value: 0)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - line: The program and its arguments.
    ///   - environment: Its complete environment.
    /// - Throws: Errors of the system.
    init(_ line: [String], environment: [String: String] = ["PATH": "/usr/bin:/bin"]) throws {
      process = try ChildCommand(
        line, environment: environment, input: .pipe, output: .pipe, errorOutput: .joined
      ).start()
      Thread.detachNewThread { [weak self, process, isAtEnd] in
        defer { isAtEnd.signal() }
        var rest: [UInt8] = []
        while true {
          let data = process.output.availableData
          if data.isEmpty { return }
          rest += data
          while let end = rest.firstIndex(of: 10) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest.removeSubrange(...end)
            guard let self else { return }
            seen.withLock { $0.append(line) }
          }
        }
      }
    }

    deinit { end() }

    /// The lines so far.
    var lines: [String] { seen.withLock { $0 } }

    /// Waits for the first matching line, of all or of those after the first `count`; returns `nil` if the process ends without
    /// it.
    func line(after count: Int = 0, where fits: (String) -> Bool) async throws -> String? {
      while true {
        // The order matters: lines written before the end are read before the end.
        let isOver = hasEnded
        if let found = lines.dropFirst(count).first(where: fits) { return found }
        if isOver { return nil }
        try await Task.sleep(for: .milliseconds(5))
      }
    }

    /// Indicates whether all output of the process was read.
    private var hasEnded: Bool {
      guard isAtEnd.wait(timeout: .now()) == .success else { return false }
      isAtEnd.signal()
      return true
    }

    /// Writes a line to the process.
    func say(_ text: String) throws { try process.input.write(contentsOf: Data("\(text)\n".utf8)) }

    /// Waits for the end and returns all lines.
    func finishedLines() -> [String] {
      isAtEnd.wait()
      isAtEnd.signal()
      return lines
    }

    /// Sends a signal, unless the process has ended, and waits for its end.
    func end(_ signal: Int32 = SIGKILL) {
      process.send(signal)
      _ = status()
    }

    /// Waits for the exit status; a negative one is the number of the signal.
    func status() -> Int32 {
      do { return try process.end() } catch {
        Issue.record(error)
        return .min
      }
    }
  }

  /// The attacked program of this build.
  enum Victim {
    static func path() throws -> String { try Programs.built("IntegrityVictim") }

    /// Starts it, and waits for its first evaluation, which must be clean.
    static func watching(_ options: [String] = []) async throws -> WatchedProcess {
      let victim = try WatchedProcess([path()] + options + ["watch"])
      let first = try await victim.report()
      #expect(WatchedProcess.isClean(first), "\(first)")
      return victim
    }
  }

  extension WatchedProcess {
    /// Returns the report of the victim's next evaluation.
    func report() async throws -> String {
      _ = try #require(try await line { $0.hasPrefix("ready") }, "\(lines)")
      let count = lines.count
      try say("evaluate")
      return try #require(try await line(after: count) { $0.hasPrefix("{") }, "\(lines)")
    }

    /// Returns whether no finding has a weight.
    static func isClean(_ report: String) -> Bool {
      report.contains(#""score":0.0"#) || report.contains(#""score":0,"#)
    }
  }

  /// Returns whether the tests with a tool run; without the tool they are skipped, but fail in CI.
  func hasTool(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: path) || ContinuousIntegration.isHere
  }
#endif
