/// The exit status of a program: 0, 1, or a value of BSD `sysexits.h` (sysexits(3)).
package struct ExitCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The status that the shell sees, 0 to 255.
  package let rawValue: UInt8

  /// Creates any status; prefer the named ones.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Success: 0.
  package static let success = ExitCode(rawValue: 0)
  /// A negative answer, or a failure without a better code: 1.
  package static let failure = ExitCode(rawValue: 1)
  /// The command line is wrong: 64, `EX_USAGE`.
  package static let usage = ExitCode(rawValue: 64)
  /// The input is malformed: 65, `EX_DATAERR`.
  package static let dataError = ExitCode(rawValue: 65)
  /// An input file is missing or unreadable: 66, `EX_NOINPUT`.
  package static let noInput = ExitCode(rawValue: 66)
  /// The user is not known: 67, `EX_NOUSER`.
  package static let noUser = ExitCode(rawValue: 67)
  /// The host is not known: 68, `EX_NOHOST`.
  package static let noHost = ExitCode(rawValue: 68)
  /// A required service or file is unavailable: 69, `EX_UNAVAILABLE`.
  package static let unavailable = ExitCode(rawValue: 69)
  /// The program detected an internal error: 70, `EX_SOFTWARE`.
  package static let software = ExitCode(rawValue: 70)
  /// A system call failed: 71, `EX_OSERR`.
  package static let systemError = ExitCode(rawValue: 71)
  /// An output file cannot be created: 73, `EX_CANTCREAT`.
  package static let cannotCreate = ExitCode(rawValue: 73)
  /// Reading or writing failed: 74, `EX_IOERR`.
  package static let inputOutput = ExitCode(rawValue: 74)
  /// A temporary failure; a retry may succeed: 75, `EX_TEMPFAIL`.
  package static let temporaryFailure = ExitCode(rawValue: 75)
  /// The peer violated the protocol: 76, `EX_PROTOCOL`.
  package static let protocolError = ExitCode(rawValue: 76)
  /// Permission was denied, or a secret was wrong: 77, `EX_NOPERM`.
  package static let permissionDenied = ExitCode(rawValue: 77)
  /// The configuration is wrong: 78, `EX_CONFIG`.
  package static let configuration = ExitCode(rawValue: 78)
  /// The user interrupted the program: 130, as shells report `SIGINT`.
  package static let interrupted = ExitCode(rawValue: 130)

  /// The number in decimal.
  package var description: String { String(rawValue) }
}

/// A failure with its own exit code; ``Program/run(_:output:errorOutput:)`` prints the message.
package struct CommandFailure: ShownFailure, Hashable, Sendable, CustomStringConvertible {
  /// The exit status of the program.
  package let exitCode: ExitCode
  /// The failure and the remedy; one or two sentences without a secret.
  package let message: TerminalText

  /// Creates a failure with a message for the user.
  package init(_ exitCode: ExitCode, _ message: TerminalText) {
    self.exitCode = exitCode
    self.message = message
  }

  /// The message, escaped.
  package var description: String { message.description }
}
