import Foundation
import Testing

/// Waits for the ends of children by asking the system.
///
/// `Process` learns of an end from a socket that the child holds. Children that start at the same moment inherit
/// each other's, so that the end of a short one may be told only when a server that started beside it ends.
enum ChildProcess {
  /// Starts a process and waits for its end; its output goes to files, so that nobody waits for a reader.
  static func finish(_ process: Process, within limit: Duration = .seconds(60)) async throws
    -> ServerCommand.Result
  {
    let running = try Running(process)
    return try await running.result(within: limit)
  }

  /// A process that runs, with its output so far.
  struct Running: Sendable {
    private let output: ScratchFile
    private let errorOutput: ScratchFile
    let id: Int32

    init(_ process: Process) throws {
      (output, errorOutput) = (try ScratchFile(), try ScratchFile())
      process.standardOutput = output.handle
      process.standardError = errorOutput.handle
      try process.run()
      id = process.processIdentifier
      retained = process
    }

    /// Kept until the end: without an owner it would not be reaped.
    private let retained: Process

    /// Ends it the hard way; false where it has ended by itself.
    func kill() -> Bool { Foundation.kill(id, SIGKILL) == 0 }

    /// What became of it; a child that is not done in time is ended, so that the test goes on and fails.
    func result(within limit: Duration = .seconds(60)) async throws -> ServerCommand.Result {
      let guardian = Task { [id] in
        try await Task.sleep(for: limit)
        _ = Foundation.kill(id, SIGKILL)
      }
      let status = await ChildProcess.end(of: id, retained)
      guardian.cancel()
      return ServerCommand.Result(
        status: status, output: try output.text(), errorOutput: try errorOutput.text())
    }
  }

  /// The exit status; negative, the number of the signal.
  static func end(of id: Int32, _ process: Process? = nil) async -> Int32 {
    await withCheckedContinuation { continuation in
      // Waiting blocks, which no thread of the shared pool may do.
      Thread.detachNewThread {
        var information = siginfo_t()
        var result: Int32
        // `WNOWAIT` leaves the reaping to `Process`.
        repeat {
          result = waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT)
        } while result != 0 && errno == EINTR
        if result == 0 {
          let status = information._sifields._sigchld.si_status
          return continuation.resume(returning: information.si_code == CLD_EXITED ? status : -status)
        }
        // `Process` was quicker, and is about to know the status.
        guard let process else { return continuation.resume(returning: .min) }
        while process.isRunning { sched_yield() }
        let status = process.terminationStatus
        continuation.resume(returning: process.terminationReason == .exit ? status : -status)
      }
    }
  }
}

extension RunningServer {
  /// Ends it the hard way and waits until it is gone.
  func killAndWait() async {
    send(SIGKILL)
    _ = await ChildProcess.end(of: processID)
  }

  /// Stops it in good order.
  func stopAndWait() async {
    send(SIGTERM)
    let status = await ChildProcess.end(of: processID)
    #expect(status == 0 || status == .min)
  }

  /// Runs an operator's command against it.
  func operate(_ words: String...) async throws -> ServerCommand.Result {
    try await ChildProcess.finish(try ServerCommand.process(words + ["--data", data]))
  }
}

extension Process {
  /// Starts it with no signal blocked: threads of a pool block all, and what they start inherits that, so that nothing but
  /// `SIGKILL` would end it.
  func runUnblocked() throws {
    var (none, usual) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &usual)
    defer { pthread_sigmask(SIG_SETMASK, &usual, nil) }
    try run()
  }
}
