import SignetFiles

/// Where a secret is read from: a terminal without echo, a file descriptor, or a file.
///
/// The bytes are lent to a closure and wiped afterwards; make a `SecretBytes` of them there and nothing else.
/// They are what was typed or sent, without the newline (0A) that ends them: any bytes, not only UTF-8, and a
/// carriage return before the newline is one of them.
public struct SecretInput: Hashable, Sendable {
  /// The longest secret that is read, in bytes: room for 256 characters in any form.
  ///
  /// A terminal that edits lines gives 4095 bytes of one and drops what follows them (N_TTY of Linux), so that a line of 4095
  /// may lack its end.
  public static let maximumByteCount = 4094

  enum Source: Hashable, Sendable {
    case terminal(path: String)
    case descriptor(Int32)
    case file(path: String)
  }

  let source: Source

  /// The terminal that controls this process, even where standard input comes from elsewhere.
  public static let terminal = terminal(at: "/dev/tty")

  /// A certain terminal.
  ///
  /// - Parameter path: A terminal device.
  /// - Returns: The input.
  public static func terminal(at path: String) -> SecretInput { SecretInput(source: .terminal(path: path)) }

  /// Whether this is a terminal that can be asked at.
  public var isTerminal: Bool {
    guard case .terminal(let path) = source else { return false }
    do throws(SecretInputFailure) {
      _ = try TerminalSession(path)
      return true
    } catch { return false }
  }

  /// An open file descriptor that is no terminal, as `--password-fd` numbers it; it stays open.
  ///
  /// Each ``read(_:into:)`` takes one line and not a byte more, so that several secrets can follow one
  /// another, and another program can read on.
  ///
  /// - Parameter number: Open for reading.
  /// - Returns: The input.
  public static func descriptor(_ number: Int32) -> SecretInput {
    SecretInput(source: .descriptor(number))
  }

  /// The first line of a file or pipe, which is opened for each ``read(_:into:)``.
  ///
  /// - Parameter path: The file.
  /// - Returns: The input.
  public static func file(at path: String) -> SecretInput { SecretInput(source: .file(path: path)) }

  /// Reads one secret, up to a newline or the end.
  ///
  /// On a terminal the prompt is written and the echo switched off; it is on again when this returns or
  /// throws, when the task is cancelled, when the process is stopped by `SIGINT`, `SIGTERM`, `SIGHUP`,
  /// `SIGQUIT` or `SIGTSTP`, and when `exit` is called. After `SIGTSTP` and `SIGCONT` the prompt comes again.
  /// Only one prompt is open at a time; others wait.
  ///
  /// - Parameters:
  ///   - prompt: Shown on the terminal, for example `"Password: "`; not used with a descriptor or file.
  ///   - note: A line under the prompt, on a terminal that can show one.
  ///   - body: Is lent 0 to ``maximumByteCount`` bytes.
  /// - Returns: What `body` returns.
  /// - Throws: ``SecretInputFailure``, or what `body` throws.
  public func read<Result: ~Copyable>(
    _ prompt: TerminalText, note: PromptNote? = nil, into body: (RawSpan) throws -> Result
  ) async throws -> Result {
    let buffer = LineBuffer(capacity: Self.maximumByteCount)
    defer { buffer.wipe() }
    try await fill(buffer, prompt, note)
    return try buffer.withBytes(body)
  }

  private func fill(_ buffer: LineBuffer, _ prompt: TerminalText, _ note: PromptNote? = nil)
    async throws(SecretInputFailure)
  {
    switch source {
    case .terminal(let path):
      try await LineReader.readTerminal(path, prompt, hasEcho: false, note, into: buffer)
    case .descriptor(let number): try await LineReader.readDescriptor(number, into: buffer)
    case .file(let path): try await LineReader.readFile(path, into: buffer)
    }
  }
}

/// Why a secret or an answer was not read.
@nonexhaustive public enum SecretInputFailure: ShownFailure, Hashable, Sendable, CustomStringConvertible {
  /// The process has no terminal, or it cannot be used; `code` is an `errno` value.
  case noTerminal(code: Int32)
  /// The descriptor is not open for reading.
  case descriptorUnusable(Int32)
  /// The descriptor is a terminal, which would show what is typed.
  case descriptorIsTerminal(Int32)
  /// The input of a descriptor ended before a secret began.
  case endOfInput
  /// The line is longer than is read.
  case tooLong(maximumByteCount: Int)
  /// The line is not UTF-8 text where text is needed.
  case notText
  /// The question was answered with neither yes nor no, three times.
  case noAnswer
  /// A signal came that the program caught itself.
  case interrupted(signal: Int32)
  /// The task was cancelled, or the person ended the input (Ctrl-D) instead of answering.
  case cancelled
  /// Reading failed; `code` is an `errno` value.
  case unreadable(code: Int32)

  /// What happened and what to do; never what was typed.
  public var description: String {
    switch self {
    case .noTerminal: "there is no terminal to ask at; run this in one, or give the answer with an option"
    case .descriptorUnusable(let number):
      "file descriptor \(number) is not open for reading; redirect something into it: \(number)< file"
    case .descriptorIsTerminal(let number):
      "file descriptor \(number) is a terminal and would show the secret; leave the option out to be asked"
    case .endOfInput: "the input ended before a secret was given"
    case .tooLong(let count): "the line is longer than \(count) bytes; give a shorter one"
    case .notText: "the line is not UTF-8 text; check the terminal's character set"
    case .noAnswer: "neither yes nor no was answered; nothing was done"
    case .interrupted(let signal): "stopped by signal \(signal)"
    case .cancelled: "stopped"
    case .unreadable(let code): "reading failed: \(systemMessage(code)); try again"
    }
  }

  /// The same, which is ours.
  public var message: TerminalText { TerminalText(ours: description) }

  /// The code that a program ends with where it does not handle this.
  public var exitCode: ExitCode {
    switch self {
    case .noTerminal, .descriptorUnusable, .descriptorIsTerminal: .usage
    case .endOfInput: .noInput
    case .tooLong, .notText: .dataError
    case .noAnswer: .failure
    case .interrupted, .cancelled: .interrupted
    case .unreadable: .inputOutput
    }
  }
}
