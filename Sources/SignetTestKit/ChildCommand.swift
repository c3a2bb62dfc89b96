import Foundation

/// A program with its arguments, environment and standard descriptors, ready to start.
package struct ChildCommand: Sendable {
  package enum Input: Sendable {
    /// Nothing: `/dev/null`.
    case none
    /// These bytes, then the end of the input.
    case bytes([UInt8])
    /// The file at this path.
    case file(String)
    /// A pipe; the test writes to ``ChildProcess/input``.
    case pipe
    /// The target of this descriptor, which stays the caller's.
    case descriptor(Int32)

    /// Creates an input of these lines, each with a newline.
    package static func lines(_ lines: [String]) -> Input {
      .bytes(Array(lines.map { "\($0)\n" }.joined().utf8))
    }
  }

  /// An output of the process.
  package enum Output: Sendable {
    /// A file, which ``ChildProcess/Result`` reads, so that the process never waits for a reader.
    case file
    /// Discarded: `/dev/null`.
    case none
    /// A pipe; the test reads ``ChildProcess/output`` or ``ChildProcess/errorOutput``.
    case pipe
    /// The target of this descriptor, which stays the caller's.
    case descriptor(Int32)
    /// For the error output only: the same target as the output.
    case joined
  }

  /// The program and its arguments; a name without a slash is searched in `PATH`.
  package var line: [String]
  package var environment: [String: String]
  /// The working directory; the test's own if nil.
  package var folder: String?
  package var input: Input
  package var output: Output
  package var errorOutput: Output

  package init(
    _ line: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    folder: String? = nil, input: Input = .none, output: Output = .file, errorOutput: Output = .file
  ) {
    self.line = line
    self.environment = environment
    self.folder = folder
    self.input = input
    self.output = output
    self.errorOutput = errorOutput
  }

  /// Starts the process.
  ///
  /// - Throws: ``ChildProcess/NotStarted``.
  package func start() throws -> ChildProcess { try ChildProcess(self) }

  /// Starts the process and waits for its end.
  ///
  /// - Throws: ``ChildProcess/NotStarted``, ``ChildProcess/Overdue``.
  package func finish(within limit: Duration = ChildProcess.limit) async throws -> ChildProcess.Result {
    try await start().result(within: limit)
  }

  /// Starts the process and blocks until its end, for synchronous code.
  ///
  /// - Throws: ``ChildProcess/NotStarted``, ``ChildProcess/Overdue``.
  package func finish(within limit: Duration = ChildProcess.limit) throws -> ChildProcess.Result {
    try start().result(within: limit)
  }
}
