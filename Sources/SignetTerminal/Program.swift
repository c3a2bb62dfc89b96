#if canImport(FoundationEssentials)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// A command-line program, declared as data.
///
/// One declaration gives the parser, `--help`, the manual page and the completion of three shells:
/// ```swift
/// let program = Program(
///   "signet", "Authenticate from the command line", version: "1.0.0", date: "2026-11-21",
///   commands: [
///     Command(
///       "otp", "Print a one-time password",
///       options: [.flag("json", "Print JSON"), .value("container", "Use this container")]
///     ) { arguments in
///       arguments.output.print(arguments.isSet("json") ? "{}" : "123456")
///       return .success
///     }
///   ])
/// await program.main()
/// ```
/// Built in are `--help`, `-h` and `--version`, and, for a program with commands, `help [COMMAND...]` (with `help --man` for
/// the manual page) and `completion bash|zsh|fish`.
package struct Program: Sendable {
  /// A named item with a sentence about it: an environment variable or a file.
  package struct Item: Hashable, Sendable {
    /// The name as it is written.
    package let name: String
    /// The meaning or effect.
    package let text: String

    /// Creates an entry for help and manual.
    package init(_ name: String, _ text: String) {
      self.name = name
      self.text = text
    }
  }

  /// An exit code with its condition.
  package struct ExitStatus: Hashable, Sendable {
    /// The status.
    package let code: ExitCode
    /// The condition: one phrase without a final full stop.
    package let text: String

    /// Creates an entry for help and manual.
    package init(_ code: ExitCode, _ text: String) {
      self.code = code
      self.text = text
    }
  }

  /// The version, as `--version` prints it.
  package let version: String
  /// The day of the release, `YYYY-MM-DD`, for the manual page.
  package let date: String
  /// The exit codes and their conditions.
  package let exitCodes: [ExitStatus]
  /// The variables that name a path or a secret, or select a behavior; a note may list several names, separated by commas.
  package let environment: [Item]
  /// The files that the program reads and writes.
  package let files: [Item]
  /// Other manual pages, such as `signet-server(8)`.
  package let seeAlso: [String]

  let root: Command
  let classify: @Sendable (any Error) -> ExitCode
  let describe: @Sendable (any Error) -> TerminalText

  /// Creates a program with commands.
  ///
  /// A contradictory declaration is a programmer error and stops the program. Examples are a duplicate name on one path, and
  /// a required operand after an optional one.
  ///
  /// - Parameters:
  ///   - name: The program's name.
  ///   - summary: One phrase without a final full stop.
  ///   - version: As `--version` prints it.
  ///   - date: The day of the release, `YYYY-MM-DD`.
  ///   - description: Paragraphs separated by an empty line.
  ///   - options: The options of all commands, given before or after the command's name.
  ///   - commands: At least one.
  ///   - exitCodes: The exit codes and their conditions.
  ///   - environment: The variables for ``environment``.
  ///   - files: The files that the program reads and writes.
  ///   - examples: Examples for help and manual.
  ///   - seeAlso: Other manual pages, such as `signet-server(8)`.
  ///   - classify: Returns the exit code of a handler's error that has none itself.
  ///   - describe: Returns the message of a handler's error, limited in length.
  package init(
    _ name: String, _ summary: String, version: String, date: String, description: String = "",
    options: [Option] = [], commands: [Command], exitCodes: [ExitStatus] = [], environment: [Item] = [],
    files: [Item] = [], examples: [Command.Example] = [], seeAlso: [String] = [],
    classify: @escaping @Sendable (any Error) -> ExitCode = { _ in .failure },
    describe: @escaping @Sendable (any Error) -> TerminalText = { TerminalText(of: $0, limit: 2000) }
  ) {
    precondition(!commands.isEmpty, "the program \(name) has no commands")
    let root = Command(
      name, summary, description, options, [], commands: commands + [.builtInHelp, .builtInCompletion(name)],
      examples, isHidden: false, nil)
    self.init(root, version, date, exitCodes, environment, files, seeAlso, classify, describe)
  }

  /// Creates a program with a single function and no commands.
  ///
  /// - Parameters:
  ///   - command: The program's function, with the program's name.
  ///   - version: As `--version` prints it.
  ///   - date: The day of the release, `YYYY-MM-DD`.
  ///   - exitCodes: The exit codes and their conditions.
  ///   - environment: The variables for ``environment``.
  ///   - files: The files that the program reads and writes.
  ///   - seeAlso: Other manual pages.
  ///   - classify: Returns the exit code of the handler's error that has none itself.
  ///   - describe: Returns the message of the handler's error, limited in length.
  package init(
    single command: Command, version: String, date: String, exitCodes: [ExitStatus] = [],
    environment: [Item] = [], files: [Item] = [], seeAlso: [String] = [],
    classify: @escaping @Sendable (any Error) -> ExitCode = { _ in .failure },
    describe: @escaping @Sendable (any Error) -> TerminalText = { TerminalText(of: $0, limit: 2000) }
  ) {
    precondition(command.handler != nil, "a single command has a handler")
    self.init(command, version, date, exitCodes, environment, files, seeAlso, classify, describe)
  }

  private init(
    _ root: Command, _ version: String, _ date: String, _ exitCodes: [ExitStatus], _ environment: [Item],
    _ files: [Item], _ seeAlso: [String], _ classify: @escaping @Sendable (any Error) -> ExitCode,
    _ describe: @escaping @Sendable (any Error) -> TerminalText
  ) {
    self.root = root
    self.version = version
    self.date = date
    self.exitCodes = exitCodes
    self.environment = environment
    self.files = files
    self.seeAlso = seeAlso
    self.classify = classify
    self.describe = describe
    root.checkDeclaration(inherited: [.help, .version], depth: 0)
  }

  /// The program's name.
  package var name: String { root.name }
  /// One phrase without a final full stop.
  package var summary: String { root.summary }
  /// The commands, the built-in ones last; empty for a program without commands.
  package var commands: [Command] { root.commands }
  /// The options of all commands.
  package var options: [Option] { root.options }

  /// Runs the command of the process's command line and ends the process.
  package func main() async -> Never {
    let words: [String]
    do throws(UsageFailure) {
      words = try Self.words(of: Self.processArguments)
      try checkEnvironment(Self.variable)
    } catch {
      report(error, [], to: .standardError)
      exitProcess(.usage)
    }
    exitProcess(await run(words))
  }

  /// Returns the words after the program's name.
  ///
  /// - Parameter arguments: The command line of a process, with the program's name.
  /// - Returns: The words.
  /// - Throws: ``UsageFailure`` if a word is not UTF-8: a repaired word would name another file.
  package static func words(of arguments: [[UInt8]]) throws(UsageFailure) -> [String] {
    var words: [String] = []
    for (position, argument) in arguments.enumerated().dropFirst() {
      guard let word = String(validating: argument, as: UTF8.self) else {
        throw .refused(
          "argument \(position) is not UTF-8 text; if it names a file or folder, rename that")
      }
      words.append(word)
    }
    return words
  }

  /// Validates the variables of ``environment``.
  ///
  /// Other variables, of the terminal, the session bus or systemd, count as unset if they are not UTF-8.
  ///
  /// - Parameter value: Returns the bytes of a variable; `nil` if it is not set.
  /// - Throws: ``UsageFailure`` if a variable is not UTF-8. Otherwise it would count as unset, and the program would
  ///   silently use another folder or file.
  package func checkEnvironment(_ value: (String) -> [UInt8]?) throws(UsageFailure) {
    let names = environment.flatMap { $0.name.split(separator: ", ").map { String($0) } }
    for name in names {
      guard let bytes = value(name), String(validating: bytes, as: UTF8.self) == nil else { continue }
      throw .refused(
        "the variable \(ours: name) is not UTF-8 text; set it to another value, and if it names a file or folder, rename that"
      )
    }
  }

  private static func variable(_ name: String) -> [UInt8]? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// The command line of the process, with the program's name.
  private static var processArguments: [[UInt8]] {
    #if os(Linux)
      // Swift finds the command line by its position before the environment. If a preloaded library moved the environment,
      // Swift finds nothing.
      if CommandLine.argc == 0, let line = FileManager.default.contents(atPath: "/proc/self/cmdline") {
        return line.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
      }
    #endif
    return (0..<Int(CommandLine.argc)).compactMap { index in
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return nil }
      return unsafe Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
    }
  }

  /// The command with this path, preceded by all commands above it.
  func commands(along path: [String]) -> [Command]? {
    var found = [root]
    for name in path {
      guard let next = found.last?.commands.first(where: { $0.name == name }) else { return nil }
      found.append(next)
    }
    return found
  }
}

extension Command {
  static let helpName = "help"
  static let completionName = "completion"

  static let builtInHelp = Command(
    helpName, "Print the help of a command",
    options: [.flag("man", "Print the manual page in mdoc format", isHidden: true)],
    arguments: [Argument("command", "The words of a command", arity: .many(minimum: 0))]
  ) { _ in .success }

  static func builtInCompletion(_ program: String) -> Command {
    Command(
      completionName, "Print a completion script for a shell",
      description: """
        Writes a script to standard output. Load it with 'source <(\(program) completion bash)' in ~/.bashrc, \
        or put it where the shell looks for completions.
        """,
      arguments: [
        Argument("shell", "The shell", completion: .choices(Shell.allCases.map(\.rawValue)))
      ]
    ) { _ in .success }
  }

  /// Stops the program if the declaration contradicts itself, here or further down.
  fileprivate func checkDeclaration(inherited: [Option], depth: Int) {
    precondition(depth <= 2, "\(name): commands are nested one level deep")
    precondition(Self.isName(name), "\(name): a name has lower-case letters, digits and dashes")
    let all = inherited + options
    precondition(
      Set(all.map(\.name) + arguments.map(\.name)).count == all.count + arguments.count,
      "\(name): a name is declared twice")
    let shorts = all.compactMap(\.short)
    precondition(Set(shorts).count == shorts.count, "\(name): a short option is declared twice")
    for option in options {
      precondition(Self.isName(option.name), "--\(option.name) is not a name")
      precondition(option.short?.isASCII != false, "the short form of --\(option.name) is not ASCII")
      precondition(
        !option.isRequired || option.defaultValue == nil, "--\(option.name) is required and has a default")
    }
    for (argument, next) in zip(arguments, arguments.dropFirst()) {
      precondition(argument.maximumCount == 1, "\(argument.name) takes all operands and is not the last")
      precondition(
        argument.minimumCount == 1 || next.minimumCount == 0, "\(next.name) follows an optional operand")
    }
    precondition(
      Set(commands.map(\.name)).count == commands.count, "\(name): a command is declared twice")
    for completion in options.map(\.completion) + arguments.map(\.completion) {
      switch completion {
      case .nothing, .file, .directory: continue
      case .words(let words), .choices(let words):
        precondition(!words.isEmpty && words.allSatisfy(Self.isWord), "\(name): choices are plain words")
      }
    }
    for command in commands { command.checkDeclaration(inherited: all, depth: depth + 1) }
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("-")
      && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }

  /// Returns true if the word needs no quoting in any shell.
  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("-")
      && text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0123456789._-".unicodeScalars.contains($0))
      }
  }
}
