import SignetSystem

/// The source of a secret: a terminal without echo, a file descriptor, or a file.
///
/// The bytes are lent to a closure and wiped afterwards; copy them only into a `SecretBytes`. They are the input without its
/// final newline (0A). They may be any bytes, not only UTF-8, and include a carriage return before the newline.
package struct SecretInput: Hashable, Sendable {
  /// The longest secret in bytes: room for 256 characters in any form.
  ///
  /// A terminal in line mode returns 4095 bytes of a line and drops the following ones (N_TTY of Linux). So a line of 4095
  /// bytes may be truncated.
  package static let maximumByteCount = 4094

  enum Source: Hashable, Sendable {
    case terminal(path: String)
    case descriptor(Int32)
    case file(path: String)
  }

  let source: Source

  /// The controlling terminal of this process, even if standard input is redirected.
  package static let terminal = terminal(at: "/dev/tty")

  /// A certain terminal.
  ///
  /// - Parameter path: A terminal device.
  /// - Returns: The input.
  package static func terminal(at path: String) -> SecretInput { SecretInput(source: .terminal(path: path)) }

  /// True if this is a terminal that can be opened.
  package var isTerminal: Bool {
    guard case .terminal(let path) = source else { return false }
    do throws(SecretInputFailure) {
      _ = try TerminalSession(path)
      return true
    } catch { return false }
  }

  /// An open file descriptor that is not a terminal, such as that of `--password-fd`; it stays open.
  ///
  /// Each ``read(_:into:)`` consumes exactly one line. So several secrets can follow one another, and another program can
  /// continue to read.
  ///
  /// - Parameter number: Open for reading.
  /// - Returns: The input.
  package static func descriptor(_ number: Int32) -> SecretInput {
    SecretInput(source: .descriptor(number))
  }

  /// The first line of a file or pipe, which is opened for each ``read(_:into:)``.
  ///
  /// - Parameter path: The file.
  /// - Returns: The input.
  package static func file(at path: String) -> SecretInput { SecretInput(source: .file(path: path)) }

  /// Reads one secret, up to a newline or the end of the input.
  ///
  /// On a terminal it writes the prompt and disables the echo. The echo is enabled again when this returns or throws, when the
  /// task is cancelled, when `exit` is called, and when the process is stopped by `SIGINT`, `SIGTERM`, `SIGHUP`, `SIGQUIT` or
  /// `SIGTSTP`. After `SIGTSTP` and `SIGCONT` the prompt is repeated. Only one prompt is open at a time; others wait.
  ///
  /// - Parameters:
  ///   - prompt: Shown on the terminal, for example `"Password: "`; not used with a descriptor or file.
  ///   - hint: A line below the prompt, on a terminal that can show one.
  ///   - body: Gets 0 to ``maximumByteCount`` bytes.
  /// - Returns: The result of `body`.
  /// - Throws: ``SecretInputFailure``, or any error of `body`.
  package func read<Result: ~Copyable>(
    _ prompt: TerminalText, hint: PromptHint? = nil, into body: (RawSpan) throws -> Result
  ) async throws -> Result {
    let buffer = LineBuffer(capacity: Self.maximumByteCount)
    defer { buffer.wipe() }
    try await fill(buffer, prompt, hint)
    return try buffer.withBytes(body)
  }

  private func fill(_ buffer: LineBuffer, _ prompt: TerminalText, _ hint: PromptHint? = nil)
    async throws(SecretInputFailure)
  {
    switch source {
    case .terminal(let path):
      try await LineReader.readTerminal(path, prompt, hasEcho: false, hint, into: buffer)
    case .descriptor(let number): try await LineReader.readDescriptor(number, into: buffer)
    case .file(let path): try await LineReader.readFile(path, into: buffer)
    }
  }
}

/// The reason why a secret or an answer was not read.
package enum SecretInputFailure: ShownFailure, Hashable, Sendable, CustomStringConvertible {
  /// The process has no terminal, or it cannot be used; `code` is an `errno` value.
  case noTerminal(code: Int32)
  /// The descriptor is not open for reading.
  case descriptorUnusable(Int32)
  /// The descriptor is a terminal, which would show the typed secret.
  case descriptorIsTerminal(Int32)
  /// The input of a descriptor or file ended before the first byte.
  case endOfInput
  /// The line is longer than the limit.
  case tooLong(maximumByteCount: Int)
  /// The line is not UTF-8 text, but text is required.
  case notText
  /// Three answers were neither yes nor no.
  case noAnswer
  /// The process received a signal that the program handles itself.
  case interrupted(signal: Int32)
  /// The task was cancelled, or the user ended the input (Ctrl-D) instead of answering.
  case cancelled
  /// Reading failed; `code` is an `errno` value.
  case unreadable(code: Int32)

  /// The failure and the remedy; never the typed text.
  package var description: String {
    switch self {
    case .noTerminal:
      "there is no terminal for questions; run this in a terminal, or give the answer with an option"
    case .descriptorUnusable(let number):
      "file descriptor \(number) is not open for reading; redirect something into it: \(number)< file"
    case .descriptorIsTerminal(let number):
      "file descriptor \(number) is a terminal and would show the secret; leave the option out to be asked"
    case .endOfInput: "the input ended before a secret was given; write the secret as one line"
    case .tooLong(let count): "the line is longer than \(count) bytes; give a shorter one"
    case .notText: "the line is not UTF-8 text; check the terminal's character set"
    case .noAnswer: "neither yes nor no was answered; nothing was done"
    case .interrupted(let signal): "stopped by signal \(signal)"
    case .cancelled: "stopped"
    case .unreadable(let code): "reading failed: \(systemMessage(code)); try again"
    }
  }

  /// The description as trusted text.
  package var message: TerminalText { TerminalText(ours: description) }

  /// The exit code of a program that does not handle this failure.
  package var exitCode: ExitCode {
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
