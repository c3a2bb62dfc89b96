extension Program {
  /// Returns the output of `--help`.
  ///
  /// - Parameters:
  ///   - path: The words of a command; empty for the program. For an unknown command it is the program's help.
  ///   - width: The columns, limited to 40 to 100.
  /// - Returns: Lines, each ended by a newline.
  package func helpText(for path: [String] = [], width: Int = 80) -> String {
    let along = commands(along: path) ?? [root]
    guard let command = along.last else { return "" }
    var page = HelpPage(width: min(max(width, 40), 100))
    page.paragraph(command.summary + ".")
    page.usage(along)
    if !command.description.isEmpty { page.paragraph(command.description) }
    page.list("Arguments", command.arguments.map { ($0.name.uppercased(), $0.help + $0.completion.note) })
    page.list(
      "Commands", command.commands.filter { !$0.isHidden }.map { ($0.name, $0.summary) })
    let inherited = along.dropLast().flatMap(\.options)
    if along.count == 1 {
      page.options("Options", command.options + [.help, .version])
    } else {
      page.options("Options", command.options + [.help])
      page.options("Options of all commands", inherited)
    }
    if along.count == 1 {
      page.list("Environment", environment.map { ($0.name, $0.text) })
      page.list("Files", files.map { ($0.name, $0.text) })
      page.list("Exit codes", exitCodes.map { ("\($0.code)", $0.text) })
    }
    page.examples(command.examples)
    if !command.commands.isEmpty {
      let words = along.map(\.name).joined(separator: " ")
      page.paragraph("Run '\(words) COMMAND --help' for the help of a command.")
    }
    return page.text
  }
}

private struct HelpPage {
  let width: Int
  private(set) var text = ""

  init(width: Int) { self.width = width }

  mutating func paragraph(_ words: String) {
    section()
    for line in TerminalText.wrapped(words, width: width) { text += line + "\n" }
  }

  mutating func usage(_ along: [Command]) {
    section()
    let words = usageLine(along)
    let indent = String(repeating: " ", count: "Usage: ".count)
    let lines = TerminalText.wrapped(words, width: width - indent.count)
    for (index, line) in lines.enumerated() { text += (index == 0 ? "Usage: " : indent) + line + "\n" }
  }

  mutating func options(_ title: String, _ options: [Option]) {
    let visible = options.filter { !$0.isHidden }
    list(title, visible.map { (Self.term($0), $0.help + $0.note) })
  }

  /// A list of terms and texts; the text column starts at the 29th column at most.
  mutating func list(_ title: String, _ items: [(term: String, text: String)]) {
    guard !items.isEmpty else { return }
    section()
    text += title + ":\n"
    let widest = items.map { TerminalText.width($0.term) }.filter { $0 <= 24 }.max() ?? 24
    let column = widest + 4
    for item in items {
      var line = "  " + item.term
      if TerminalText.width(item.term) > widest {
        text += line + "\n"
        line = ""
      }
      for part in TerminalText.wrapped(item.text, width: max(width - column, 20)) {
        line += String(repeating: " ", count: column - TerminalText.width(line)) + part
        text += line + "\n"
        line = ""
      }
    }
  }

  mutating func examples(_ examples: [Command.Example]) {
    guard !examples.isEmpty else { return }
    section()
    text += "Examples:\n"
    for example in examples {
      text += "  \(example.line)\n"
      for line in TerminalText.wrapped(example.text, width: width - 6) { text += "      \(line)\n" }
    }
  }

  private mutating func section() {
    if !text.isEmpty { text += "\n" }
  }

  private static func term(_ option: Option) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    return short + "--\(option.name)" + (option.valueName.map { " \($0.uppercased())" } ?? "")
  }
}

/// `signet otp [OPTIONS] --user USER CONTAINER`: the required options and the operands.
private func usageLine(_ along: [Command]) -> String {
  var words = along.map(\.name) + ["[OPTIONS]"]
  for option in along.flatMap(\.options) where option.isRequired {
    words.append("--\(option.name) \((option.valueName ?? "").uppercased())")
  }
  if let command = along.last {
    if !command.commands.isEmpty { words.append("COMMAND") }
    words += command.arguments.map(\.usage)
  }
  return words.joined(separator: " ")
}

extension Argument {
  /// `NAME`, `[NAME]`, `NAME...` or `[NAME...]`.
  var usage: String {
    let word = name.uppercased() + (maximumCount > 1 ? "..." : "")
    return minimumCount == 0 ? "[\(word)]" : word
  }
}

extension Option {
  /// The constraints that the parser enforces, in brackets.
  var note: String {
    var notes: [String] = []
    if case .choices(let words) = completion { notes.append(words.joined(separator: ", ")) }
    if let defaultValue { notes.append("default: \(defaultValue)") }
    if isRequired { notes.append("required") }
    if isRepeatable, takesValue { notes.append("repeatable") }
    return notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
  }
}

extension ShellCompletion {
  /// The accepted words, in brackets.
  var note: String {
    if case .choices(let words) = self { " (\(words.joined(separator: ", ")))" } else { "" }
  }
}
