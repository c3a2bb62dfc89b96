import Foundation

/// A program with all that its process gets, ready to start.
package struct ChildCommand: Sendable {
  /// What the process reads.
  package enum Input: Sendable {
    /// Nothing: `/dev/null`.
    case none
    /// These bytes, and then the end.
    case bytes([UInt8])
    /// The file at this path.
    case file(String)
    /// What the test writes to ``ChildProcess/input``.
    case pipe
    /// What this descriptor leads to; it stays the caller's.
    case descriptor(Int32)

    /// These lines, each with its newline.
    package static func lines(_ lines: [String]) -> Input {
      .bytes(Array(lines.map { "\($0)\n" }.joined().utf8))
    }
  }

  /// Where the process writes.
  package enum Output: Sendable {
    /// To a file that the ``ChildProcess/Result`` is read from, so that nobody waits for a reader.
    case kept
    /// Nowhere: `/dev/null`.
    case none
    /// To ``ChildProcess/output`` or ``ChildProcess/errorOutput``, which the test reads.
    case pipe
    /// To where this descriptor leads; it stays the caller's.
    case descriptor(Int32)
    /// The error output to where the output goes.
    case joined
  }

  /// The program and its arguments; a name without a slash is looked for in `PATH`.
  package var line: [String]
  /// All of its environment.
  package var environment: [String: String]
  /// Its working directory; the test's own where this is nil.
  package var folder: String?
  /// Its standard input.
  package var input: Input
  /// Its standard output.
  package var output: Output
  /// Its standard error.
  package var errorOutput: Output

  /// Describes a process.
  package init(
    _ line: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    folder: String? = nil, input: Input = .none, output: Output = .kept, errorOutput: Output = .kept
  ) {
    (self.line, self.environment, self.folder) = (line, environment, folder)
    (self.input, self.output, self.errorOutput) = (input, output, errorOutput)
  }

  /// Starts it.
  ///
  /// - Throws: ``ChildProcess/NotStarted``.
  package func start() throws -> ChildProcess { try ChildProcess(self) }

  /// Starts it and waits for its end.
  ///
  /// - Throws: ``ChildProcess/NotStarted``, ``ChildProcess/Overdue``.
  package func finish(within limit: Duration = ChildProcess.limit) async throws -> ChildProcess.Result {
    try await start().result(within: limit)
  }

  /// Starts it and waits for its end, for code that is not asynchronous.
  ///
  /// - Throws: ``ChildProcess/NotStarted``, ``ChildProcess/Overdue``.
  package func finish(within limit: Duration = ChildProcess.limit) throws -> ChildProcess.Result {
    try start().result(within: limit)
  }
}
