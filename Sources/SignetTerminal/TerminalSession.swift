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

  /// Opens a terminal without making it this process's controlling one.
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

  /// Writes the prompt and reads a line; the terminal is as before when this returns or throws.
  func readLine(
    _ prompt: TerminalText, hasEcho: Bool, _ note: PromptNote? = nil, into buffer: LineBuffer,
    _ wake: WakePipe
  ) throws(SecretInputFailure) {
    let usesUTF8 = Terminal.hasUTF8(ProcessInfo.processInfo.environment)
    while true {
      // The window may have another size after a stop.
      let shown = prompt.shown(
        width: min(max(windowWidth(number) ?? 80, 20), 1000), usesUTF8: usesUTF8)
      let ending = try ask(shown, hasEcho: hasEcho, note, buffer, wake)
      switch ending {
      case .newline: return
      case .end:
        // Whoever ends the input where a person is asked does not want to answer.
        if buffer.count == 0 { throw .cancelled }
        return
      case .signal(let signal):
        buffer.wipe()
        // Everything is restored: now the signal does what it would have done.
        raiseUnblocked(signal)
        // Still here: after SIGTSTP and SIGCONT ask again; otherwise the program caught the signal.
        guard signal == SIGTSTP else { throw .interrupted(signal: signal) }
      }
    }
  }

  private func ask(
    _ prompt: String, hasEcho: Bool, _ note: PromptNote?, _ buffer: LineBuffer, _ wake: WakePipe
  ) throws(SecretInputFailure) -> LineReader.Ending {
    let watch = try SignalWatch()
    defer { watch.end() }
    let noted = hasEcho ? nil : note.flatMap { NotedPrompt(prompt, $0, on: number) }
    var silence: EchoSilence?
    if !hasEcho { silence = try EchoSilence(number, keyByKey: noted != nil) }
    defer {
      if let silence {
        silence.end()
        // The newline that ended the line was not echoed either.
        _ = writeAll("\n", to: number)
        noted?.erase()
      }
    }
    let failure = writeAll(prompt, to: number)
    guard failure == 0 else { throw .noTerminal(code: failure) }
    do throws(SecretInputFailure) {
      let ending: LineReader.Ending
      if let note, let noted, let silence {
        ending = try note.attached(to: wake) { () throws(SecretInputFailure) in
          try noted.readLine(into: buffer, silence.keys, [wake, watch.pipe])
        }
      } else {
        ending = try LineReader.readLine(from: number, into: buffer, [wake, watch.pipe])
      }
      // The rest of an interrupted line would be the next program's input, in the open.
      if case .signal = ending { _ = tcflush(number, TCIFLUSH) }
      return ending
    } catch {
      _ = tcflush(number, TCIFLUSH)
      throw error
    }
  }
}

/// Switches the echo of a terminal off, until it is ended or the process exits.
private struct EchoSilence {
  private struct Active {
    let number: Int32
    let before: termios
  }

  /// What `exit` restores; it can run on any thread while a prompt waits.
  private static let active = Mutex<Active?>(nil)

  private static let restoresAtExit: Bool = {
    atexit {
      EchoSilence.active.withLockIfAvailable { active in
        guard let current = active else { return }
        var before = current.before
        _ = unsafe tcsetattr(current.number, TCSANOW, &before)
        active = nil
      }
    } == 0
  }()

  /// The keys that edit a line.
  let keys: EditingKeys

  /// Switches the echo off; where `keyByKey`, each key is given out at once, and whoever reads has to edit the line.
  init(_ number: Int32, keyByKey: Bool) throws(SecretInputFailure) {
    _ = Self.restoresAtExit
    var before = termios()
    guard unsafe tcgetattr(number, &before) == 0 else { throw .noTerminal(code: errno) }
    keys = EditingKeys(before)
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
    silent.c_lflag |= tcflag_t(ICANON | ISIG)
    if keyByKey {
      silent.c_lflag &= ~tcflag_t(ICANON | IEXTEN)
      unsafe withUnsafeMutableBytes(of: &silent.c_cc) { keys in
        unsafe keys[Int(VMIN)] = 1
        unsafe keys[Int(VTIME)] = 0
      }
    }
    Self.active.withLock { $0 = Active(number: number, before: before) }
    // What was typed before the prompt was visible, and is dropped.
    while unsafe tcsetattr(number, TCSAFLUSH, &silent) != 0 {
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

/// Turns signals that would end or stop the process into notes in a pipe, until it is ended.
private struct SignalWatch {
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

  /// Made once and never closed: a handler may still be at work on another thread after the last prompt, and
  /// must not write to a file that has been given the same number since.
  private static let shared: Result<WakePipe, SecretInputFailure> = {
    do throws(SecretInputFailure) { return .success(try WakePipe()) } catch { return .failure(error) }
  }()

  /// Where the numbers of signals come out.
  let pipe: WakePipe
  private let before: [(signal: Int32, action: sigaction)]

  init() throws(SecretInputFailure) {
    pipe = try Self.shared.get()
    // What such a late handler wrote was meant for the prompt before.
    pipe.drain()
    // This also initialises the global before a handler can run: only an atomic load and `write` are left.
    signalDescriptor.store(pipe.writeEnd, ordering: .sequentiallyConsistent)
    var replaced: [(signal: Int32, action: sigaction)] = []
    for signal in Self.signals {
      var old = sigaction()
      guard unsafe sigaction(signal, nil, &old) == 0, !Self.isIgnored(old) else { continue }
      var new = Self.noting
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

  /// An action that writes the signal's number; `errno` is left as it was.
  private static var noting: sigaction {
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

  /// What a parent had this process ignore (`nohup`) stays ignored.
  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Darwin)
      let handler = unsafe action.__sigaction_u.__sa_handler
    #else
      let handler = unsafe action.__sigaction_handler.sa_handler
    #endif
    return unsafe unsafeBitCast(handler, to: Int.self) == 1  // SIG_IGN
  }
}

/// Sends a signal to this thread and takes it at once, although threads of Dispatch block most signals.
private func raiseUnblocked(_ signal: Int32) {
  var only = sigset_t()
  var before = sigset_t()
  unsafe sigemptyset(&only)
  unsafe sigaddset(&only, signal)
  unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
  _ = raise(signal)
  unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
}
