import SignetSystem

/// The request that a command line expresses.
package enum ParsedCommandLine: Sendable {
  /// The help of the command with this path; of the program if the path is empty.
  case help([String])
  /// The version.
  case version
  /// The manual page.
  case manual
  /// A completion script.
  case completion(Shell)
  /// A command with its arguments.
  case run(Command, Arguments)
}

extension Program {
  /// Parses a command line (POSIX.1-2017 XBD 12.2 with GNU long options and GNU order).
  ///
  /// Options and operands may be mixed, `--` ends the options, and `-` is an operand. Long names cannot be abbreviated: a
  /// script that relied on an abbreviation would break when an option is added.
  ///
  /// - Parameters:
  ///   - words: The words after the program's name.
  ///   - output: The stream for the command's results.
  ///   - errorOutput: The stream for the command's messages.
  /// - Returns: The request.
  /// - Throws: ``UsageFailure``.
  package func parse(
    _ words: [String], output: Terminal = .standardOutput, errorOutput: Terminal = .standardError
  ) throws(UsageFailure) -> ParsedCommandLine {
    var parser = ArgumentParser(root)
    if let request = try parser.read(words) { return request }
    try parser.finish()
    // A program without commands has an empty path, and declared names cannot equal the built-in ones.
    switch parser.path.first {
    case Command.helpName:
      let words = parser.values["command"] ?? []
      guard parser.values["man"] != nil else { return .help(try helpPath(words)) }
      guard words.isEmpty else {
        throw .refused(
          "help --man prints the manual page of all commands; leave the command out, or --man")
      }
      return .manual
    case Command.completionName:
      // The parser has already checked the word against the choices.
      return .completion(parser.values["shell"]?.first.flatMap(Shell.init) ?? .bash)
    default:
      let arguments = Arguments(
        parser.path, options: parser.options, operands: parser.command.arguments, values: parser.values,
        output: output, errorOutput: errorOutput)
      return .run(parser.command, arguments)
    }
  }

  /// The command words before the first parse error, for a message about it.
  func commandPath(of words: [String]) -> [String] {
    var parser = ArgumentParser(root)
    do { _ = try parser.read(words) } catch { return parser.path }
    return parser.path
  }

  /// Verifies that `words` name a command.
  private func helpPath(_ words: [String]) throws(UsageFailure) -> [String] {
    var command = root
    for word in words {
      guard let next = command.commands.first(where: { $0.name == word }) else {
        throw .unknownCommand(word, suggestion: command.suggestion(for: word))
      }
      command = next
    }
    return words
  }
}

private struct ArgumentParser {
  private(set) var command: Command
  private(set) var path: [String] = []
  private(set) var options: [Option]
  private(set) var values: [String: [String]] = [:]
  private var operands: [String] = []
  /// Options that appeared before the command that declares them, with their values.
  private var deferred: [(name: String, written: String, value: String?)] = []

  init(_ root: Command) {
    command = root
    options = root.options
  }

  /// Parses all words; returns a request at once for help or version.
  mutating func read(_ words: [String]) throws(UsageFailure) -> ParsedCommandLine? {
    var rest = words[...]
    var isPastOptions = false
    while let word = rest.popFirst() {
      if isPastOptions || word == "-" || !word.hasPrefix("-") {
        try accept(word)
      } else if word == "--" {
        isPastOptions = true
      } else if word.hasPrefix("--") {
        if let request = try readLong(word.dropFirst(2), &rest) { return request }
      } else {
        if let request = try readShort(word.dropFirst(), &rest) { return request }
      }
    }
    return nil
  }

  /// Checks the conditions that need the whole line.
  mutating func finish() throws(UsageFailure) {
    guard command.commands.isEmpty else {
      throw .missingCommand(choices: command.commands.filter { !$0.isHidden }.map(\.name))
    }
    var none: ArraySlice<String> = []
    for (name, written, value) in deferred {
      guard let option = options.first(where: { $0.name == name }) else {
        throw .unknownOption(written, suggestion: nil)
      }
      _ = try record(option, written: written, value, &none)
    }
    for option in options where option.isRequired && values[option.name] == nil {
      throw .missingOption("--\(option.name)")
    }
    var rest = operands[...]
    for argument in command.arguments {
      let provided = Array(rest.prefix(argument.maximumCount))
      guard provided.count >= argument.minimumCount else {
        throw .missingArgument(argument.name.uppercased())
      }
      for word in provided { try check(word, argument.completion, argument.name.uppercased()) }
      if !provided.isEmpty { values[argument.name] = provided }
      rest = rest.dropFirst(provided.count)
    }
    guard rest.isEmpty else {
      throw .tooManyArguments(given: operands.count, maximum: operands.count - rest.count)
    }
  }

  private mutating func accept(_ word: String) throws(UsageFailure) {
    guard !command.commands.isEmpty else { return operands.append(word) }
    guard let next = command.commands.first(where: { $0.name == word }) else {
      // Other programs have `version` as a command.
      let isVersion = path.isEmpty && word == Option.version.name
      throw .unknownCommand(
        word, suggestion: isVersion ? "--\(Option.version.name)" : command.suggestion(for: word))
    }
    command = next
    path.append(word)
    options += next.options
  }

  private mutating func readLong(
    _ text: Substring, _ rest: inout ArraySlice<String>
  ) throws(UsageFailure) -> ParsedCommandLine? {
    // Searched as a byte: a combining mark at the start of the value would join `=` into one character.
    let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
    let name = text[..<(equals ?? text.endIndex)]
    let attached = equals.map { String(text[text.utf8.index(after: $0)...]) }
    let acceptedOptions = options + [.help, .version]
    guard let option = acceptedOptions.first(where: { $0.name == name }) else {
      if let descendantOption = command.declared(further: { $0.name == name }) {
        return try postpone(descendantOption, written: "--\(name)", attached, &rest)
      }
      let suggestion = closest(to: String(name), among: acceptedOptions.filter { !$0.isHidden }.map(\.name))
      throw .unknownOption("--\(name)", suggestion: suggestion.map { "--\($0)" })
    }
    return try record(option, written: "--\(name)", attached, &rest)
  }

  /// A cluster: flags, then at most one option with a value, which is the rest of the word or the next word.
  private mutating func readShort(
    _ text: Substring, _ rest: inout ArraySlice<String>
  ) throws(UsageFailure) -> ParsedCommandLine? {
    var cluster = text
    while let letter = cluster.popFirst() {
      let acceptedOption = (options + [.help]).first { $0.short == letter }
      guard let option = acceptedOption ?? command.declared(further: { $0.short == letter }) else {
        throw .unknownOption("-\(letter)", suggestion: nil)
      }
      var attached: String?
      if option.takesValue, !cluster.isEmpty {
        attached = String(cluster)
        cluster = ""
      }
      let isAccepted = acceptedOption != nil
      let request =
        try isAccepted
        ? record(option, written: "-\(letter)", attached, &rest)
        : postpone(option, written: "-\(letter)", attached, &rest)
      if let request { return request }
    }
    return nil
  }

  /// Stores an option and its value until the command that declares it is parsed.
  private mutating func postpone(
    _ option: Option, written: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) throws(UsageFailure) -> ParsedCommandLine? {
    let value = attached ?? (option.takesValue ? rest.popFirst() : nil)
    deferred.append((option.name, written, value))
    return nil
  }

  private mutating func record(
    _ option: Option, written: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) throws(UsageFailure) -> ParsedCommandLine? {
    guard option.takesValue else {
      guard attached == nil else { throw .unexpectedValue(option: written) }
      if option == .help { return .help(path) }
      if option == .version { return .version }
      values[option.name, default: []].append("")
      return nil
    }
    guard let value = attached ?? rest.popFirst() else { throw .missingValue(option: written) }
    guard option.isRepeatable || values[option.name] == nil else { throw .repeatedOption(written) }
    try check(value, option.completion, "--\(option.name)")
    values[option.name, default: []].append(value)
    return nil
  }

  private func check(_ word: String, _ completion: ShellCompletion, _ name: String) throws(UsageFailure) {
    switch completion {
    case .choices(let choices):
      guard choices.contains(word) else { throw .notAChoice(name: name, choices: choices) }
    // An empty path would mean the current folder; usually it results from an unset shell variable.
    case .file:
      if word.isEmpty { throw .refused("\(ours: name) is empty; name a file") }
    case .directory:
      if word.isEmpty {
        throw .refused("\(ours: name) is empty; name a folder, such as . for the present one")
      }
    case .nothing, .words: break
    }
  }
}

extension Command {
  /// The option that the subcommands declare, if all of them declare it in the same form.
  ///
  /// `nil` if no subcommand declares it, or if some declare it with a value and others without.
  fileprivate func declared(further matches: (Option) -> Bool) -> Option? {
    let found = commands.flatMap { command in
      command.options.filter(matches) + command.commands.flatMap { $0.options.filter(matches) }
    }
    guard let first = found.first,
      found.allSatisfy({ $0.takesValue == first.takesValue && $0.name == first.name })
    else { return nil }
    return first
  }

  func suggestion(for word: String) -> String? {
    let visible = commands.filter { !$0.isHidden }
    // A synonym has priority: "unsuspend" is close to "suspend".
    return visible.first { $0.synonyms.contains(word) }?.name ?? closest(to: word, among: visible.map(\.name))
  }
}
