import Foundation
import SignetTestKit
import Testing

/// Help, manual, completion and documents of the real programs name the same commands and options.
///
/// Rules that hold for every command are tested here too.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DescribedCommandTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let programs = ["signet", "signet-server"]

  /// The description of a command in its `--help`.
  private struct Described {
    let path: [String]
    let help: String
    var commands: [String] = []
    var options: Set<String> = []

    /// The required words: an option's name and, for each argument, its first possible word, or `x`.
    var needs: [String] {
      let usage = help.split(separator: "\n\n").first { $0.hasPrefix("Usage:") } ?? ""
      return usage.split(whereSeparator: \.isWhitespace).dropFirst(2 + path.count)
        .filter { !$0.hasPrefix("[") && !$0.hasSuffix("]") }
        .map { word in word.hasPrefix("--") ? String(word) : firstChoice(of: word) ?? "x" }
    }

    private func firstChoice(of argument: Substring) -> String? {
      let line = help.split(separator: "\n").first { $0.hasPrefix("  \(argument) ") }
      return line?.firstMatch(of: /\(([a-z-]+)(?:, [a-z-]+)+\)$/).map { String($0.1) }
    }

    init(_ path: [String], _ help: String) {
      (self.path, self.help) = (path, help)
      var title = ""
      for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.wholeMatch(of: /[A-Z].*:/) != nil {
          title = String(line)
        } else if title == "Commands:", let match = line.firstMatch(of: /^  ([a-z][a-z0-9-]*)(?:  |$)/) {
          commands.append(String(match.1))
        } else if title.hasPrefix("Options"),
          let match = line.firstMatch(of: /^  (?:-\w, |    )(--[a-z][a-z0-9-]*)/)
        {
          options.insert(String(match.1))
        }
      }
    }
  }

  private static func run(_ program: String, _ words: [String]) async throws -> ServerCommand.Result {
    var process = try ServerCommand.process(words)
    process.line[0] = try Programs.path(program)
    return try await process.finish()
  }

  /// Every command of a program, and the program itself, described by its help.
  ///
  /// There are 150 commands. A suite runs in one process and asks each only once, so a test over all commands belongs in this
  /// suite.
  private static func described(_ program: String) async throws -> [Described] {
    try await asked[program]?.value ?? []
  }

  private static let asked: [String: Task<[Described], any Error>] = .init(
    uniqueKeysWithValues: programs.map { program in (program, Task { try await ask(program) }) })

  private static func ask(_ program: String) async throws -> [Described] {
    var (found, waiting): ([Described], [[String]]) = ([], [[]])
    while let path = waiting.popLast() {
      let result = try await run(program, path + ["--help"])
      try #require(result.status == 0 && result.errorOutput.isEmpty, result.summary)
      let described = Described(path, result.output)
      found.append(described)
      waiting += described.commands.map { path + [$0] }
    }
    return found
  }

  @Test("each server command exists, and its help names its operands and the data folder")
  func serverCommands() async throws {
    let commands = try await Self.described("signet-server")
    let known = Dictionary(uniqueKeysWithValues: commands.map { ($0.path.joined(separator: " "), $0) })
    for words in [
      "init", "serve", "user add", "user list", "user unlock", "activation create", "container list",
      "container show", "container revoke", "key create", "key list", "key revoke", "transaction create",
      "transaction show", "otp validate", "audit list", "audit verify",
    ] {
      let help = try #require(known[words], "signet-server \(words)").help
      #expect(help.contains("signet-server \(words)") && help.contains("--data DIR"), "\(help)")
    }
  }

  @Test(
    "each command has help, a manual entry and completion with all its options", arguments: programs)
  func described(program: String) async throws {
    let commands = try await Self.described(program)
    #expect(commands.count > 40)
    // Without the escapes that keep words from being macros.
    let manual = try await Self.run(program, ["help", "--man"]).output.replacing("\\&", with: "")
    // The part of each command, by its words.
    var parts: [String: Substring] = [:]
    for part in manual.split(separator: "\n.Ss ").dropFirst() {
      parts[String(part.prefix { $0 != "\n" })] = part
    }
    var groups: Set<String> = []
    for command in commands {
      let words = command.path.joined(separator: " ")
      // Only the first command of each group: `help` finds the others in the same way.
      if command.path.count < 2 || groups.insert(command.path.dropLast().joined(separator: " ")).inserted {
        let help = try await Self.run(program, ["help"] + command.path)
        #expect(help.status == 0 && help.output == command.help, "\(program) help \(words): \(help.summary)")
      }
      guard !command.path.isEmpty else { continue }
      let part = try #require(parts[words], "the manual has no \(program) \(words)")
      // Options of the program are in its description; options of a group are with the group.
      let group = command.path.count > 1 ? parts[command.path[0]] ?? "" : ""
      let above = manual.prefix(upTo: manual.range(of: "\n.Sh COMMANDS")?.lowerBound ?? manual.endIndex)
      for option in command.options {
        let item = "Fl \\-\(option.dropFirst(2))"
        let isThere = [part, group, above].contains { text in
          text.split(separator: "\n").contains { $0.hasPrefix(".It ") && "\($0) ".contains("\(item) ") }
        }
        #expect(isThere, "the manual of \(program) \(words) has no \(option)")
      }
    }
  }

  @Test("bash offers every command and option", arguments: programs)
  func completed(program: String) async throws {
    let commands = try await Self.described(program)
    let completion = try await Self.run(program, ["completion", "bash"])
    var script = completion.output + "\ncompopt() { :; }\n"
    for command in commands {
      let words = command.path.map { "'\($0)'" }.joined(separator: " ")
      for start in command.commands.isEmpty ? ["--"] : ["--", ""] {
        script += """
          COMP_WORDS=(\(program) \(words) '\(start)'); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
          _\(program.replacing("-", with: "_")); echo "${COMPREPLY[*]}"

          """
      }
    }
    let folder = try TemporaryFolder()
    try Data(script.utf8).write(to: URL(filePath: folder.file("script")))
    let result = try await ChildCommand(["/bin/bash", "--norc", folder.file("script")]).finish()
    #expect(result.status == 0 && result.errorOutput.isEmpty, result.summary)
    var lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)[...]
    for command in commands {
      let offered = Set((lines.popFirst() ?? "").split(separator: " ").map(String.init))
      #expect(command.options.subtracting(offered) == [], "\(program) \(command.path)")
      guard !command.commands.isEmpty else { continue }
      let names = (lines.popFirst() ?? "").split(separator: " ").map(String.init)
      #expect(names.sorted() == command.commands.sorted(), "\(program) \(command.path)")
    }
  }

  @Test("the documents name only existing commands and options")
  func documented() async throws {
    var known: [[String]: Described] = [:]
    for program in Self.programs {
      for command in try await Self.described(program) { known[[program] + command.path] = command }
    }
    var lines: [(file: String, text: String)] = []
    let folder = Self.root.appending(path: "docs")
    let documents = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      // That document has labels of keys that begin with the same word.
      .filter { $0.hasSuffix(".md") && $0 != "vault-format.md" }.map { "docs/\($0)" }
    for file in documents + ["README.md", "CONTRIBUTING.md", "SECURITY.md"] {
      let text = try String(contentsOf: Self.root.appending(path: file), encoding: .utf8)
      for (index, block) in "\n\(text)".split(separator: "\n```", omittingEmptySubsequences: false)
        .enumerated()
      {
        let found =
          index.isMultiple(of: 2)
          ? block.matches(of: /`([^`]+)`/).map { String($0.1).replacing("\n", with: " ") }
          : block.split(separator: "\n").filter { $0.hasPrefix("$ ") }.map(String.init)
        lines += found.map { (file, $0) }
      }
    }
    var count = 0
    for (file, line) in lines {
      // Up to the next command of the line.
      for match in line.matches(of: /(?:^|[ (])(signet(?:-server)?) ([^|;&()]*)/) {
        let words = match.2.split(separator: " ").map(String.init)
        var path = [String(match.1)]
        var rest = words[...]
        while let word = rest.first, known[path + [word]] != nil {
          path.append(word)
          rest.removeFirst()
        }
        count += 1
        if known[path]?.commands.isEmpty == false, let word = rest.first {
          #expect(
            word.first?.isLowercase != true, "\(file): there is no \(path.joined(separator: " ")) \(word)")
        }
        // Includes the options of subcommands, since options may precede the command.
        let options = known.filter { $0.key.starts(with: path) || path.starts(with: $0.key) }
          .reduce(into: Set<String>()) { $0.formUnion($1.value.options) }
        for word in rest.prefix(while: { $0 != "--" }) {
          guard let option = word.firstMatch(of: /^--[a-z][a-z0-9-]*/)?.0 else { continue }
          #expect(
            options.contains(String(option)), "\(file): \(path.joined(separator: " ")) has no \(option)")
        }
      }
    }
    #expect(count > 200)
  }

  @Test("the table of screens lists exactly the server's commands")
  func serverTexts() async throws {
    let leaves = try await Self.described("signet-server").filter(\.commands.isEmpty)
    let names = Set(leaves.map { $0.path.joined(separator: " ") })
    let known = Set(ServerTextUse.ofCommands.keys)
    #expect(
      names.subtracting(known) == [], "list them in ServerTextUse, with a test that shows them on screens")
    #expect(known.subtracting(names) == [], "there are no such commands")
  }

  #if os(Linux)
    @Test("the table of memory searches lists exactly the commands that declare a password")
    func passwords() async throws {
      let leaves = try await Self.described("signet").filter { described in
        described.commands.isEmpty && !described.path.isEmpty
          && described.options.contains { $0 == "--password-fd" || $0 == "--pin-fd" }
      }
      let names = Set(leaves.map { $0.path.joined(separator: " ") })
      let known = Set(PasswordUse.ofCommands.keys)
      #expect(names.subtracting(known) == [], "list them in PasswordUse, with a scenario that searches them")
      #expect(known.subtracting(names) == [], "there are no such commands")
    }

    @Test(
      "every hooked command is refused, except those that diagnose or lock",
      .enabled(if: IntegrityCommandTests.hasTool("cc"), "needs a C compiler"))
    func hooked() async throws {
      let folder = try TemporaryFolder()
      let device = try InstalledSignet(data: folder.file("none")).uninstalled(in: folder)
      let library = try await IntegrityCommandTests.hook(in: folder)
      let hooks = ["LD_PRELOAD": library, "SIGNET_INTEGRITY": "refuse"]
      // Commands that manage the device during tampering, and commands that need no key and write nothing.
      let others: Set = ["completion", "condition report", "doctor", "help", "lock", "status"]
      let leaves = try await Self.described("signet").filter(\.commands.isEmpty)
      #expect(
        others.isSubset(of: leaves.map { $0.path.joined(separator: " ") }), "there are no such commands")
      for leaf in leaves where !others.contains(leaf.path.joined(separator: " ")) {
        var process = try device.process(leaf.path + leaf.needs)
        process.environment.merge(hooks) { $1 }
        let result = try await process.finish()
        #expect(
          result.isRefusal(77, "this program is being tampered with"), "\(leaf.path), \(result.summary)")
      }
    }
  #endif
}
