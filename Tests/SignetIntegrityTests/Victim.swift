#if os(Linux)
  import Foundation
  import SignetJSON
  import SignetTestKit
  import Synchronization
  import Testing

  /// A process that is watched from its start to its end, by the lines that it writes; gone with the last reference.
  final class WatchedProcess: Sendable {
    var id: Int32 { process.id }
    private let process: ChildProcess
    private let seen = Mutex<[String]>([])
    private let isAtEnd = DispatchSemaphore(value: 0)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - line: The program and its words.
    ///   - environment: All of its environment.
    /// - Throws: What the system says.
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

    /// Lines so far.
    var lines: [String] { seen.withLock { $0 } }

    /// Waits for the first line that fits, of all or of those after the first `count`; `nil` where the process ends without it.
    func line(after count: Int = 0, where fits: (String) -> Bool) async throws -> String? {
      while true {
        // In this order: what was written before the end is read before the end.
        let isOver = hasEnded
        if let found = lines.dropFirst(count).first(where: fits) { return found }
        if isOver { return nil }
        try await Task.sleep(for: .milliseconds(5))
      }
    }

    /// Whether all that the process has to say was read.
    private var hasEnded: Bool {
      guard isAtEnd.wait(timeout: .now()) == .success else { return false }
      isAtEnd.signal()
      return true
    }

    /// Writes a line to the process.
    func say(_ text: String) throws { try process.input.write(contentsOf: Data("\(text)\n".utf8)) }

    /// All lines, once the process has ended.
    func finishedLines() -> [String] {
      isAtEnd.wait()
      isAtEnd.signal()
      return lines
    }

    /// Ends it, if it has not ended by itself, and waits until it is gone.
    func end(_ signal: Int32 = SIGKILL) {
      process.send(signal)
      _ = status()
    }

    /// The exit status, at the end; negative, the number of the signal.
    func status() -> Int32 {
      do { return try process.end() } catch {
        Issue.record(error)
        return .min
      }
    }
  }

  /// The program to attack, of this build.
  enum Victim {
    static func path() throws -> String { try Programs.built("IntegrityVictim") }

    /// Starts it, and waits until it has evaluated itself once without a finding that weighs.
    static func watching(_ options: [String] = []) async throws -> WatchedProcess {
      let victim = try WatchedProcess([path()] + options + ["watch"])
      let first = try await victim.report()
      #expect(WatchedProcess.isClean(first), "\(first)")
      return victim
    }
  }

  extension WatchedProcess {
    /// Has the victim evaluate itself from now on, and gives its report.
    func report() async throws -> String {
      _ = try #require(try await line { $0.hasPrefix("ready") }, "\(lines)")
      let count = lines.count
      try say("evaluate")
      return try #require(try await line(after: count) { $0.hasPrefix("{") }, "\(lines)")
    }

    /// Whether nothing that weighs was found.
    static func isClean(_ report: String) -> Bool {
      report.contains(#""score":0.0"#) || report.contains(#""score":0,"#)
    }
  }

  /// A tool that an attack needs: missing, it is a reason to skip, and where each change is checked a failure.
  func hasTool(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: path) || ContinuousIntegration.isHere
  }
#endif
