import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// An open terminal, closed with its single owner.
struct TerminalSession: ~Copyable {
  private let number: Int32

  /// Opens a terminal without making it the controlling terminal of this process.
  init(_ path: String) throws(SecretInputFailure) {
    let opened = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard opened >= 0 else { throw .noTerminal(code: errno) }
    guard isatty(opened) == 1 else {
      _ = close(opened)
      throw .noTerminal(code: ENOTTY)
    }
    number = opened
  }

  deinit { _ = close(number) }

  /// Writes the prompt and reads a line; restores the terminal's settings before it returns or throws.
  func readLine(
    _ prompt: TerminalText, hasEcho: Bool, _ hint: PromptHint? = nil, into buffer: LineBuffer,
    _ wake: WakePipe
  ) throws(SecretInputFailure) {
    let usesUTF8 = Terminal.hasUTF8(ProcessInfo.processInfo.environment)
    while true {
      // The window size may have changed during a stop.
      let shown = prompt.shown(
        width: min(max(windowWidth(number) ?? 80, 20), 1000), usesUTF8: usesUTF8)
      let ending = try readOnce(shown, hasEcho: hasEcho, hint, buffer, wake)
      switch ending {
      case .newline: return
      case .end:
        // The user ended the input at a prompt, which means that the user does not want to answer.
        if buffer.count == 0 { throw .cancelled }
        return
      case .signal(let signal):
        buffer.wipe()
        // The settings are restored: now the signal gets its normal effect.
        raiseUnblocked(signal)
        // If the process still runs, ask again after SIGTSTP and SIGCONT; for other signals the program has its own handler.
        guard signal == SIGTSTP else { throw .interrupted(signal: signal) }
      }
    }
  }

  private func readOnce(
    _ prompt: String, hasEcho: Bool, _ hint: PromptHint?, _ buffer: LineBuffer, _ wake: WakePipe
  ) throws(SecretInputFailure) -> LineReader.Ending {
    let watch = try SignalWatch()
    defer { watch.end() }
    let hintedPrompt = hasEcho ? nil : hint.flatMap { HintedPrompt(prompt, $0, on: number) }
    var suppression: EchoSuppression?
    if !hasEcho { suppression = try EchoSuppression(number, keyByKey: hintedPrompt != nil) }
    defer {
      if let suppression {
        suppression.end()
        // The terminal did not echo the final newline.
        _ = writeAll("\n", to: number)
        hintedPrompt?.erase()
      }
    }
    let failure = writeAll(prompt, to: number)
    guard failure == 0 else { throw .noTerminal(code: failure) }
    do throws(SecretInputFailure) {
      let ending: LineReader.Ending
      if let hint, let hintedPrompt, let suppression {
        ending = try hint.attached(to: wake) { () throws(SecretInputFailure) in
          try hintedPrompt.readLine(into: buffer, suppression.keys, [wake, watch.pipe])
        }
      } else {
        ending = try LineReader.readLine(from: number, into: buffer, [wake, watch.pipe])
      }
      // The next program would read the rest of an interrupted line and show it.
      if case .signal = ending { _ = tcflush(number, TCIFLUSH) }
      return ending
    } catch {
      _ = tcflush(number, TCIFLUSH)
      throw error
    }
  }
}

/// Disables the echo of a terminal until it is ended or the process exits.
private struct EchoSuppression {
  private struct Active {
    let number: Int32
    let before: termios
  }

  /// The settings that `exit` restores; it can run on any thread while a prompt waits.
  private static let active = Mutex<Active?>(nil)

  private static let restoresAtExit: Bool = {
    atexit {
      EchoSuppression.active.withLockIfAvailable { active in
        guard let current = active else { return }
        var before = current.before
        _ = unsafe tcsetattr(current.number, TCSANOW, &before)
        active = nil
      }
    } == 0
  }()

  let keys: EditingKeys

  /// Disables the echo; if `keyByKey` is true, each key is delivered at once, and the reader must edit the line.
  init(_ number: Int32, keyByKey: Bool) throws(SecretInputFailure) {
    _ = Self.restoresAtExit
    var before = termios()
    guard unsafe tcgetattr(number, &before) == 0 else { throw .noTerminal(code: errno) }
    keys = EditingKeys(before)
    var settings = before
    settings.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
    settings.c_lflag |= tcflag_t(ICANON | ISIG)
    if keyByKey {
      settings.c_lflag &= ~tcflag_t(ICANON | IEXTEN)
      unsafe withUnsafeMutableBytes(of: &settings.c_cc) { keys in
        unsafe keys[Int(VMIN)] = 1
        unsafe keys[Int(VTIME)] = 0
      }
    }
    Self.active.withLock { $0 = Active(number: number, before: before) }
    // Input typed before the prompt was visible on the screen, so it is discarded.
    while unsafe tcsetattr(number, TCSAFLUSH, &settings) != 0 {
      if errno == EINTR { continue }
      let code = errno
      end()
      throw .noTerminal(code: code)
    }
  }

  func end() {
    Self.active.withLock { active in
      guard let current = active else { return }
      var before = current.before
      while unsafe tcsetattr(current.number, TCSADRAIN, &before) != 0, errno == EINTR {}
      active = nil
    }
  }
}

/// The descriptor that the signal handler writes to; -1 until the first prompt.
private let signalDescriptor = Atomic<Int32>(-1)

/// Writes signals that would end or stop the process into a pipe instead, until it is ended.
private struct SignalWatch {
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

  /// The pipe of the signal handler, created once and never closed.
  ///
  /// A handler may still run on another thread after the last prompt. It must not write to another file that has reused the
  /// descriptor number.
  private static let shared: Result<WakePipe, SecretInputFailure> = {
    do throws(SecretInputFailure) { return .success(try WakePipe()) } catch { return .failure(error) }
  }()

  /// The pipe that delivers the signal numbers.
  let pipe: WakePipe
  private let before: [(signal: Int32, action: sigaction)]

  init() throws(SecretInputFailure) {
    pipe = try Self.shared.get()
    // The bytes of such a late handler were for the previous prompt.
    pipe.drain()
    // This also initialises the global before a handler can run: the handler needs only an atomic load and `write`.
    signalDescriptor.store(pipe.writeEnd, ordering: .sequentiallyConsistent)
    var replaced: [(signal: Int32, action: sigaction)] = []
    for signal in Self.signals {
      var old = sigaction()
      guard unsafe sigaction(signal, nil, &old) == 0, !Self.isIgnored(old) else { continue }
      var new = Self.recordingAction
      unsafe sigemptyset(&new.sa_mask)
      guard unsafe sigaction(signal, &new, nil) == 0 else { continue }
      replaced.append((signal, old))
    }
    before = replaced
  }

  func end() {
    for (signal, action) in before {
      var old = action
      _ = unsafe sigaction(signal, &old, nil)
    }
  }

  /// An action that writes the signal's number; it preserves `errno`.
  private static var recordingAction: sigaction {
    let handler: @convention(c) (Int32) -> Void = { signal in
      let saved = errno
      var byte = UInt8(truncatingIfNeeded: signal)
      _ = unsafe write(signalDescriptor.load(ordering: .sequentiallyConsistent), &byte, 1)
      errno = saved
    }
    var action = sigaction()
    #if canImport(Darwin)
      unsafe action.__sigaction_u.__sa_handler = handler
    #else
      unsafe action.__sigaction_handler.sa_handler = handler
    #endif
    return action
  }

  /// Returns true for a signal that the parent process had ignored (`nohup`); it stays ignored.
  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Darwin)
      let handler = unsafe action.__sigaction_u.__sa_handler
    #else
      let handler = unsafe action.__sigaction_handler.sa_handler
    #endif
    return unsafe unsafeBitCast(handler, to: Int.self) == 1  // SIG_IGN
  }
}

/// Sends a signal to this thread and delivers it at once, although Dispatch threads block most signals.
private func raiseUnblocked(_ signal: Int32) {
  var only = sigset_t()
  var before = sigset_t()
  unsafe sigemptyset(&only)
  unsafe sigaddset(&only, signal)
  unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
  _ = raise(signal)
  unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
}
