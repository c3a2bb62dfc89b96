extension Program {
  /// Returns the manual page in mdoc(7) format.
  ///
  /// - Parameter section: The section of the manual: 1 for user commands, 8 for administrator commands.
  /// - Returns: A whole page in UTF-8.
  package func manPage(section: Int = 1) -> String {
    var page = MdocPage()
    page.line(".Dd \(manualDate)")
    page.macro("Dt", [name.uppercased(), String(section)])
    page.line(".Os")
    page.section("NAME")
    page.macro("Nm", [name])
    page.macro("Nd", [summary])
    page.section("SYNOPSIS")
    page.synopsis([root])
    page.section("DESCRIPTION")
    page.paragraphs(root.description.isEmpty ? summary + "." : root.description)
    page.operands(root.arguments)
    page.options(root.options + [.help, .version])
    if !commands.isEmpty { page.section("COMMANDS") }
    for command in commands where !command.isHidden { page.command([root, command]) }
    page.items("ENVIRONMENT", environment.map { ("Ev", $0.name, $0.text) })
    page.items("FILES", files.map { ("Pa", $0.name, $0.text) })
    page.exitStatus(exitCodes)
    page.examples([root] + commands.flatMap { [$0] + $0.commands })
    page.seeAlso(seeAlso)
    return page.text
  }

  /// The date in mdoc's form, such as `November 21, 2026`.
  private var manualDate: String {
    let months = [
      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
      "November", "December",
    ]
    let parts = date.split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3, months.indices.contains(parts[1] - 1) else { return date }
    return "\(months[parts[1] - 1]) \(parts[2]), \(parts[0])"
  }
}

private struct MdocPage {
  private(set) var text = ""

  /// Adds a macro line whose arguments are all plain text.
  mutating func macro(_ name: String, _ arguments: [String]) {
    text += ([".\(name)"] + arguments.map(Self.argument)).joined(separator: " ") + "\n"
  }

  mutating func line(_ line: String) { text += line + "\n" }

  mutating func section(_ title: String) { line(".Sh \(title)") }

  mutating func synopsis(_ along: [Command]) {
    guard let command = along.last else { return }
    if command.commands.isEmpty {
      line(".Nm")
      for option in along.flatMap(\.options) where !option.isHidden { line(Self.synopsis(option)) }
      for argument in command.arguments { line(Self.synopsis(argument)) }
    } else {
      line(".Nm\n.Op Ar option ...\n.Ar command\n.Op Ar argument ...")
    }
  }

  /// Adds text with at most one sentence on each line: mdoc sets the space between sentences itself.
  mutating func paragraphs(_ words: String) {
    for (index, paragraph) in words.split(separator: "\n\n").enumerated() {
      if index > 0 { line(".Pp") }
      var sentence = ""
      for word in paragraph.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
        sentence += sentence.isEmpty ? String(word) : " " + word
        if word.hasSuffix(".") || word.hasSuffix("?") || word.hasSuffix("!") {
          lines(sentence)
          sentence = ""
        }
      }
      lines(sentence)
    }
  }

  mutating func operands(_ arguments: [Argument]) {
    guard !arguments.isEmpty else { return }
    line(".Bl -tag -width Ds")
    for argument in arguments {
      line(".It Ar \(Self.argument(argument.name))")
      paragraphs(Self.sentence(argument.help + argument.completion.note))
    }
    line(".El")
  }

  mutating func options(_ options: [Option]) {
    let visible = options.filter { !$0.isHidden }
    guard !visible.isEmpty else { return }
    line(".Bl -tag -width Ds")
    for option in visible {
      let short = option.short.map { "Fl \(Self.argument(String($0))) , " } ?? ""
      let value = option.valueName.map { " Ar \(Self.argument($0))" } ?? ""
      line(".It \(short)Fl \\-\(Self.argument(option.name))\(value)")
      paragraphs(Self.sentence(option.help + option.note))
    }
    line(".El")
  }

  mutating func command(_ along: [Command]) {
    guard let command = along.last else { return }
    let words = along.dropFirst().map(\.name)
    if command.commands.isEmpty {
      macro("Ss", words)
      line(".Nm Cm " + words.map(Self.argument).joined(separator: " "))
      for option in command.options where !option.isHidden { line(Self.synopsis(option)) }
      for argument in command.arguments { line(Self.synopsis(argument)) }
      line(".Pp")
    } else {
      macro("Ss", words)
    }
    paragraphs(Self.sentence(command.summary))
    if !command.description.isEmpty {
      line(".Pp")
      paragraphs(command.description)
    }
    operands(command.arguments)
    options(command.options)
    for next in command.commands where !next.isHidden { self.command(along + [next]) }
  }

  mutating func items(_ title: String, _ items: [(macro: String, name: String, text: String)]) {
    guard !items.isEmpty else { return }
    section(title)
    line(".Bl -tag -width Ds")
    for item in items {
      line(".It \(item.macro) \(Self.argument(item.name))")
      paragraphs(Self.sentence(item.text))
    }
    line(".El")
  }

  mutating func exitStatus(_ items: [Program.ExitStatus]) {
    guard !items.isEmpty else { return }
    section("EXIT STATUS")
    line(".Bl -tag -width 130")
    for item in items {
      line(".It \(item.code)")
      paragraphs(Self.sentence(item.text))
    }
    line(".El")
  }

  mutating func examples(_ commands: [Command]) {
    let examples = commands.filter { !$0.isHidden }.flatMap(\.examples)
    guard !examples.isEmpty else { return }
    section("EXAMPLES")
    for (index, example) in examples.enumerated() {
      if index > 0 { line(".Pp") }
      paragraphs(example.text + ":")
      macro("Dl", example.line.split(separator: " ").map(String.init))
    }
  }

  mutating func seeAlso(_ pages: [String]) {
    guard !pages.isEmpty else { return }
    section("SEE ALSO")
    // Sorted by section, then by name (mdoc(7)).
    let ordered = pages.sorted { ($0.drop { $0 != "(" }, $0) < ($1.drop { $0 != "(" }, $1) }
    for (index, page) in ordered.enumerated() {
      let parts = page.split(whereSeparator: { "()".contains($0) }).map(String.init)
      let comma = index < pages.count - 1 ? " ," : ""
      line(".Xr " + parts.map(Self.argument).joined(separator: " ") + comma)
    }
  }

  private mutating func lines(_ sentence: String) {
    for words in TerminalText.wrapped(sentence, width: 72) where !words.isEmpty {
      // A line that starts with a full stop or an apostrophe would be a macro.
      let guarded = words.hasPrefix(".") || words.hasPrefix("'") ? "\\&" : ""
      line(guarded + Self.escaped(words))
    }
  }

  private static func synopsis(_ option: Option) -> String {
    let value = option.valueName.map { " Ar \(argument($0))" } ?? ""
    let flag = option.short.map { "Fl \(argument(String($0)))" } ?? "Fl \\-\(argument(option.name))"
    let more = option.isRepeatable && option.takesValue ? " ..." : ""
    return (option.isRequired ? "." : ".Op ") + flag + value + more
  }

  private static func synopsis(_ operand: Argument) -> String {
    let more = operand.maximumCount > 1 ? " ..." : ""
    return (operand.minimumCount == 0 ? ".Op Ar " : ".Ar ") + argument(operand.name) + more
  }

  private static func sentence(_ phrase: String) -> String {
    phrase.hasSuffix(".") || phrase.isEmpty ? phrase : phrase + "."
  }

  private static func escaped(_ text: String) -> String {
    TerminalText.sanitised(text).split(separator: "\\", omittingEmptySubsequences: false)
      .joined(separator: "\\e")
  }

  /// One argument of a macro line: quoted if it has spaces, and escaped so that it is neither a macro nor punctuation.
  private static func argument(_ text: String) -> String {
    let plain = escaped(text).split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\\(dq")
    // The names of macros and the delimiters have at most three characters.
    let guarded = plain.count <= 3 && !plain.allSatisfy(\.isNumber) ? "\\&" + plain : plain
    return guarded.contains(" ") ? "\"\(guarded)\"" : guarded
  }
}
