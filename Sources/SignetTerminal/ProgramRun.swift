#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Program {
  /// Runs the request of a command line, prints failures to `errorOutput`, and returns the exit code.
  ///
  /// A failure becomes one line: the command, a colon and the failure's description. The exit code is that of the
  /// ``CommandFailure``, ``UsageFailure`` or ``SecretInputFailure``, 130 after cancellation, and the result of `classify`
  /// for other errors. If the results cannot be written, success becomes ``ExitCode/inputOutput``.
  ///
  /// - Parameters:
  ///   - words: The words after the program's name.
  ///   - output: The stream for results.
  ///   - errorOutput: The stream for messages.
  /// - Returns: The exit code for the process.
  package func run(
    _ words: [String], output: Terminal = .standardOutput, errorOutput: Terminal = .standardError
  ) async -> ExitCode {
    var path: [String] = []
    var exitCode: ExitCode
    do {
      switch try parse(words, output: output, errorOutput: errorOutput) {
      case .help(let path): output.write(ours: helpText(for: path, width: output.width))
      case .version: output.print("\(ours: name) \(ours: version)")
      case .manual: output.write(ours: manPage())
      case .completion(let shell): output.write(ours: completionScript(for: shell))
      case .run(let command, let arguments):
        path = arguments.commandPath
        guard let handler = command.handler else { preconditionFailure("only groups have no handler") }
        return finish(try await handler(arguments), path, output, errorOutput)
      }
      exitCode = .success
    } catch {
      exitCode = self.exitCode(of: error)
      report(error, path.isEmpty ? commandPath(of: words) : path, to: errorOutput)
    }
    return finish(exitCode, path, output, errorOutput)
  }

  /// Turns success into a failure if the output is incomplete.
  private func finish(
    _ code: ExitCode, _ path: [String], _ output: Terminal, _ errorOutput: Terminal
  ) -> ExitCode {
    guard let failure = output.writeFailure, code == .success else { return code }
    let message = unsafe strerror(failure).map { unsafe String(cString: $0) } ?? "error \(failure)"
    // Requests such as help have no path, and only write output.
    let outcome = path.isEmpty ? "" : "; what was asked for was done"
    errorOutput.print(
      "\(ours: ([name] + path).joined(separator: " ")): cannot write the output: \(ours: message)\(ours: outcome)"
    )
    return .inputOutput
  }

  private func exitCode(of error: any Error) -> ExitCode {
    switch error {
    case let failure as CommandFailure: failure.exitCode
    case is UsageFailure: .usage
    case let failure as SecretInputFailure: failure.exitCode
    case is CancellationError: .interrupted
    default: classify(error)
    }
  }

  func report(_ error: any Error, _ path: [String], to errorOutput: Terminal) {
    let words = ([name] + path).joined(separator: " ")
    let text = error is CancellationError ? "stopped" : describe(error)
    let name = errorOutput.styled("\(ours: words):", .bold, .red)
    errorOutput.print("\(name) \(text)")
    if error is UsageFailure { errorOutput.print("Run '\(ours: words) --help' for usage.") }
  }
}
