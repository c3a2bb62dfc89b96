import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads lines on separate threads, because `read` blocks and must not block the shared pool.
enum LineReader {
  /// Runs one prompt at a time: prompts share the signal handlers, and two would confuse the user.
  private static let prompts = DispatchQueue(label: "signet.terminal.prompt")

  static func readTerminal(
    _ path: String, _ prompt: TerminalText, hasEcho: Bool, _ hint: PromptHint? = nil, into buffer: LineBuffer
  ) async throws(SecretInputFailure) {
    try await run(on: prompts) { wake throws(SecretInputFailure) in
      try TerminalSession(path).readLine(prompt, hasEcho: hasEcho, hint, into: buffer, wake)
    }
  }

  static func readDescriptor(
    _ number: Int32, into buffer: LineBuffer
  ) async throws(SecretInputFailure) {
    guard isOpenForReading(number) else { throw .descriptorUnusable(number) }
    guard isatty(number) == 0 else { throw .descriptorIsTerminal(number) }
    let queue = DispatchQueue(label: "signet.terminal.descriptor")
    try await run(on: queue) { wake throws(SecretInputFailure) in
      let isEnded = try readLine(from: number, into: buffer, [wake]) == .end
      if isEnded, buffer.count == 0 { throw .endOfInput }
    }
  }

  static func readFile(_ path: String, into buffer: LineBuffer) async throws(SecretInputFailure) {
    let queue = DispatchQueue(label: "signet.terminal.file")
    try await run(on: queue) { wake throws(SecretInputFailure) in
      let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard number >= 0 else { throw .unreadable(code: errno) }
      defer { _ = close(number) }
      guard isatty(number) == 0 else { throw .descriptorIsTerminal(number) }
      let isEnded = try readLine(from: number, into: buffer, [wake]) == .end
      if isEnded, buffer.count == 0 { throw .endOfInput }
    }
  }

  /// The end of a line's input.
  enum Ending: Equatable {
    case newline
    case end
    /// A signal, whose number came through a pipe.
    case signal(Int32)
  }

  /// Reads byte by byte, so that no byte after the newline is consumed.
  ///
  /// A line that is too long is read to its end, so that its rest does not become the next answer.
  static func readLine(
    from number: Int32, into buffer: LineBuffer, _ pipes: [WakePipe]
  ) throws(SecretInputFailure) -> Ending {
    var isTooLong = false
    var byte: UInt8 = 0
    defer { byte = 0 }
    while true {
      if let message = try WakePipe.wait(for: number, or: pipes) {
        if message == WakePipe.cancelled { throw .cancelled }
        if message == WakePipe.redraw { continue }
        return .signal(Int32(message))
      }
      let count = unsafe read(number, &byte, 1)
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        throw .unreadable(code: errno)
      }
      if count == 0 || byte == UInt8(ascii: "\n") {
        guard !isTooLong else { throw .tooLong(maximumByteCount: buffer.capacity) }
        return count == 0 ? .end : .newline
      }
      if !buffer.append(byte) { isTooLong = true }
    }
  }

  private static func isOpenForReading(_ number: Int32) -> Bool {
    let flags = fcntl(number, F_GETFL)
    return flags >= 0 && flags & O_ACCMODE != O_WRONLY
  }

  /// Runs blocking work on `queue`; cancelling the task wakes it.
  private static func run(
    on queue: DispatchQueue,
    _ work: @escaping @Sendable (WakePipe) throws(SecretInputFailure) -> Void
  ) async throws(SecretInputFailure) {
    let wake = try WakePipe()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async {
          do throws(SecretInputFailure) {
            try work(wake)
            continuation.resume(returning: Result<Void, SecretInputFailure>.success(()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
    } onCancel: {
      wake.send(WakePipe.cancelled)
    }
    try result.get()
  }
}

/// A pipe that interrupts the wait for input, with one byte: 0 cancels, 255 redraws, other values are signal numbers.
final class WakePipe: Sendable {
  static let cancelled: UInt8 = 0
  static let redraw: UInt8 = 255

  private let readEnd: Int32
  let writeEnd: Int32

  init() throws(SecretInputFailure) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .unreadable(code: errno) }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      // A signal handler must not block if the pipe is full, nor `drain` if it is empty.
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    _ = close(readEnd)
    _ = close(writeEnd)
  }

  func send(_ message: UInt8) {
    var byte = message
    _ = unsafe write(writeEnd, &byte, 1)
  }

  func drain() {
    var message: UInt8 = 0
    while unsafe read(readEnd, &message, 1) == 1 {}
  }

  /// Waits until `number` is readable; returns the first byte from one of `pipes` if that comes before.
  static func wait(for number: Int32, or pipes: [WakePipe]) throws(SecretInputFailure) -> UInt8? {
    while true {
      var watched = (pipes.map(\.readEnd) + [number]).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      if unsafe poll(&watched, nfds_t(watched.count), -1) < 0 {
        if errno == EINTR { continue }
        throw .unreadable(code: errno)
      }
      guard let ready = zip(pipes, watched).first(where: { $1.revents != 0 })?.0 else { return nil }
      var message: UInt8 = 0
      guard unsafe read(ready.readEnd, &message, 1) == 1 else { continue }
      return message
    }
  }
}
