package import Foundation
import Synchronization

#if os(Linux)
  import CSpawn
#endif

/// A child process without blocked signals, with default signal actions, and with only its three standard descriptors.
///
/// The end is read with `waitid`. Foundation's `Process` learns of it from a socket in the child, which other children that
/// start at the same moment inherit: it reports the end of a short process only when a long one ends.
package final class ChildProcess: Sendable {
  /// The default time limit: long enough on a busy machine, short enough to notice a hang.
  package static let limit = Duration.seconds(120)

  package struct Result: Sendable {
    /// The exit status; if a signal ended the process, its negative number.
    package let status: Int32
    /// The standard output, if the command keeps it.
    package let outputBytes: [UInt8]
    /// The standard error, if the command keeps it.
    package let errorOutputBytes: [UInt8]

    package var output: String { String(decoding: outputBytes, as: UTF8.self) }
    package var errorOutput: String { String(decoding: errorOutputBytes, as: UTF8.self) }
  }

  package struct NotStarted: Error, CustomStringConvertible {
    let line: [String]
    package let errno: Int32
    package var description: String {
      "\(line.first ?? "") did not start: \(String(cString: strerror(errno)))"
    }
  }

  /// The process exceeded its time limit and was killed.
  package struct Overdue: Error, CustomStringConvertible {
    package let description: String
  }

  package let id: Int32
  /// The test's end of the input pipe; nil unless the input is a pipe.
  private let inputPipe: FileHandle?
  private let outputPipe: FileHandle?
  private let errorOutputPipe: FileHandle?
  private let outputFile: ScratchFile?
  private let errorOutputFile: ScratchFile?
  private let line: [String]
  private let lifetime: Lifetime

  /// Starts a process.
  ///
  /// - Throws: ``NotStarted``.
  package init(_ command: ChildCommand) throws {
    line = command.line
    let input = try Standard(reading: command.input)
    let output = try Standard(writing: command.output)
    var errorOutput: Standard?
    if case .joined = command.errorOutput {} else { errorOutput = try Standard(writing: command.errorOutput) }
    inputPipe = input.pipe
    outputPipe = output.pipe
    errorOutputPipe = errorOutput?.pipe
    (outputFile, errorOutputFile) = (output.file, errorOutput?.file)
    id = try Self.spawn(command, [input, output, errorOutput ?? output].map(\.descriptor))
    lifetime = Lifetime(id)
    withExtendedLifetime((input, output, errorOutput)) {}
  }

  /// The test's end of the input pipe; the command's input must be a pipe.
  package var input: FileHandle { Self.pipe(inputPipe) }
  /// The test's end of the output pipe; the command's output must be a pipe.
  package var output: FileHandle { Self.pipe(outputPipe) }
  /// The test's end of the error output pipe; the command's error output must be a pipe.
  package var errorOutput: FileHandle { Self.pipe(errorOutputPipe) }

  private static func pipe(_ handle: FileHandle?) -> FileHandle {
    guard let handle else { preconditionFailure("the command has no pipe there") }
    return handle
  }

  /// The standard output so far, if the command keeps it.
  package var outputSoFar: String { String(decoding: outputFile?.bytes ?? [], as: UTF8.self) }
  /// The standard error so far, if the command keeps it.
  package var errorOutputSoFar: String { String(decoding: errorOutputFile?.bytes ?? [], as: UTF8.self) }

  package var isRunning: Bool { lifetime.isRunning }

  /// Sends a signal to the process.
  ///
  /// - Returns: True if the process was running and the system accepted the signal.
  @discardableResult package func send(_ signal: Int32) -> Bool { lifetime.send(signal) }

  /// Sends SIGKILL; returns false if the process has already ended.
  @discardableResult package func kill() -> Bool { send(SIGKILL) }

  /// Waits for the end; kills the process after the time limit.
  ///
  /// - Returns: The exit status; if a signal ended the process, its negative number.
  /// - Throws: ``Overdue``.
  @discardableResult package func end(within limit: Duration = ChildProcess.limit) async throws -> Int32 {
    let guardian = Task { [lifetime] in
      try await Task.sleep(for: limit)
      lifetime.giveUp()
    }
    let (status, isOverdue) = await withCheckedContinuation { continuation in
      lifetime.whenEnded { continuation.resume(returning: ($0, $1)) }
    }
    guardian.cancel()
    if isOverdue { throw overdue(limit) }
    return status
  }

  /// Blocks until the end, for synchronous code; kills the process after the time limit.
  ///
  /// - Returns: The exit status; if a signal ended the process, its negative number.
  /// - Throws: ``Overdue``.
  @discardableResult package func end(within limit: Duration = ChildProcess.limit) throws -> Int32 {
    let result = Mutex<(status: Int32, isOverdue: Bool)?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    lifetime.whenEnded { status, isOverdue in
      result.withLock { $0 = (status, isOverdue) }
      hasEnded.signal()
    }
    if hasEnded.wait(timeout: .now() + limit / .seconds(1)) == .timedOut {
      lifetime.giveUp()
      hasEnded.wait()
    }
    guard let end = result.withLock({ $0 }), !end.isOverdue else { throw overdue(limit) }
    return end.status
  }

  /// Waits for the result; kills the process after the time limit.
  ///
  /// - Throws: ``Overdue``.
  package func result(within limit: Duration = ChildProcess.limit) async throws -> Result {
    result(try await end(within: limit))
  }

  /// Blocks until the result, for synchronous code; kills the process after the time limit.
  ///
  /// - Throws: ``Overdue``.
  package func result(within limit: Duration = ChildProcess.limit) throws -> Result {
    result(try end(within: limit))
  }

  private func result(_ status: Int32) -> Result {
    Result(
      status: status, outputBytes: outputFile?.bytes ?? [], errorOutputBytes: errorOutputFile?.bytes ?? [])
  }

  private func overdue(_ limit: Duration) -> Overdue {
    Overdue(
      description:
        "\(line.joined(separator: " ")) did not end within \(limit); output \(outputSoFar), messages \(errorOutputSoFar)"
    )
  }

  private static func spawn(_ command: ChildCommand, _ standard: [Int32]) throws -> Int32 {
    #if canImport(Darwin)
      var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
    #else
      var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    for (number, descriptor) in standard.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    if let folder = command.folder { posix_spawn_file_actions_addchdir_np(&actions, folder) }
    // Pool threads block all signals, and child processes would inherit that.
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    #if canImport(Darwin)
      flags |= POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    #endif
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var arguments: [UnsafeMutablePointer<CChar>?] = command.line.map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] =
      command.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for string in arguments + environment { free(string) } }
    var id: pid_t = 0
    let error = posix_spawnp(&id, command.line.first ?? "", &actions, &attributes, &arguments, &environment)
    guard error == 0 else { throw NotStarted(line: command.line, errno: error) }
    return id
  }

  /// One of the three standard descriptors of a child, until it has started.
  private final class Standard {
    let descriptor: Int32
    private(set) var pipe: FileHandle?
    private(set) var file: ScratchFile?
    private let closesDescriptor: Bool

    init(reading input: ChildCommand.Input) throws {
      switch input {
      case .none: (descriptor, closesDescriptor) = (try Self.opened("/dev/null", O_RDONLY), true)
      case .file(let path): (descriptor, closesDescriptor) = (try Self.opened(path, O_RDONLY), true)
      case .descriptor(let existing): (descriptor, closesDescriptor) = (existing, false)
      case .bytes(let bytes):
        let file = try ScratchFile(bytes)
        (descriptor, closesDescriptor) = (file.descriptor, false)
        self.file = file
      case .pipe:
        let ends = try Self.makePipe()
        (descriptor, closesDescriptor) = (ends.reading, true)
        pipe = FileHandle(fileDescriptor: ends.writing, closeOnDealloc: true)
      }
    }

    init(writing output: ChildCommand.Output) throws {
      switch output {
      case .file:
        let file = try ScratchFile()
        (descriptor, closesDescriptor) = (file.descriptor, false)
        self.file = file
      case .none: (descriptor, closesDescriptor) = (try Self.opened("/dev/null", O_WRONLY), true)
      case .descriptor(let existing): (descriptor, closesDescriptor) = (existing, false)
      case .pipe:
        let ends = try Self.makePipe()
        (descriptor, closesDescriptor) = (ends.writing, true)
        pipe = FileHandle(fileDescriptor: ends.reading, closeOnDealloc: true)
      case .joined: preconditionFailure("only the error output can be joined to the output")
      }
    }

    deinit { if closesDescriptor { close(descriptor) } }

    private static func opened(_ path: String, _ flags: Int32) throws -> Int32 {
      let descriptor = open(path, flags | O_CLOEXEC)
      guard descriptor >= 0 else { throw NotStarted(line: [path], errno: errno) }
      return descriptor
    }

    private static func makePipe() throws -> (reading: Int32, writing: Int32) {
      var ends: [Int32] = [-1, -1]
      #if canImport(Darwin)
        let succeeded = Darwin.pipe(&ends) == 0 && ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
      #else
        let succeeded = pipe2(&ends, O_CLOEXEC) == 0
      #endif
      guard succeeded else { throw NotStarted(line: ["a pipe"], errno: errno) }
      return (ends[0], ends[1])
    }
  }

  /// The life of a child; a waiting thread reaps it.
  private final class Lifetime: Sendable {
    private struct State {
      var status: Int32?
      var isOverdue = false
      var waiters: [@Sendable (Int32, Bool) -> Void] = []
    }

    private let id: Int32
    private let state = Mutex(State())

    init(_ id: Int32) {
      self.id = id
      // Waiting blocks, which is not allowed on the shared pool.
      Thread.detachNewThread { [self] in
        // The child stays a zombie until the lock is held, so that no signal reaches another process with its ID.
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (status, isOverdue, waiters) = state.withLock { state in
          var raw: Int32 = 0
          var reaped: pid_t
          repeat { reaped = waitpid(id, &raw, 0) } while reaped < 0 && errno == EINTR
          let signal = raw & 0x7F
          let status = reaped != id ? .min : signal == 0 ? raw >> 8 & 0xFF : -signal
          state.status = status
          defer { state.waiters = [] }
          return (status, state.isOverdue, state.waiters)
        }
        for waiter in waiters { waiter(status, isOverdue) }
      }
    }

    var isRunning: Bool {
      state.withLock { state in
        guard state.status == nil else { return false }
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT | WNOHANG)
        return result == 0 && information.si_signo == 0
      }
    }

    func send(_ signal: Int32) -> Bool {
      state.withLock { $0.status == nil && Foundation.kill(id, signal) == 0 }
    }

    func giveUp() {
      state.withLock { state in
        guard state.status == nil else { return }
        state.isOverdue = true
        _ = Foundation.kill(id, SIGKILL)
      }
    }

    func whenEnded(_ waiter: @escaping @Sendable (Int32, Bool) -> Void) {
      let end = state.withLock { state -> (Int32, Bool)? in
        if let status = state.status { return (status, state.isOverdue) }
        state.waiters.append(waiter)
        return nil
      }
      if let end { waiter(end.0, end.1) }
    }
  }
}
