import SignetTerminal
import Testing

/// A command line and the command's output, or the failure.
struct ParserCase: Sendable, CustomTestStringConvertible {
  let line: String
  let expected: Result<String, UsageFailure>

  init(_ line: String, _ changes: String) {
    self.line = line
    let preset = [
      "path": "otp", "verbose": "0", "json": "false", "quiet": "false", "home": "-", "container": "",
      "digits": "6", "valid": "900", "format": "-", "account": "work", "file": "",
    ]
    let changed = changes.split(separator: " ").map {
      $0.split(separator: "=", maxSplits: 1).map(String.init)
    }
    let values = preset.merging(changed.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
    let names = [
      "path", "verbose", "json", "quiet", "home", "container", "digits", "valid", "format", "account", "file",
    ]
    expected = .success(names.map { "\($0)=\(values[$0] ?? "?")" }.joined(separator: " ") + "\n")
  }

  init(_ line: String, _ failure: UsageFailure) {
    self.line = line
    expected = .failure(failure)
  }

  var testDescription: String { line }
  var words: [String] { line.split(separator: " ").map { $0 == "''" ? "" : String($0) } }
}

let parserCases: [ParserCase] = [
  // Forms of options.
  .init("otp work", ""),
  .init("otp --json work", "json=true"),
  .init("otp work --json", "json=true"),
  .init("otp -j work", "json=true"),
  .init("otp -jq work", "json=true quiet=true"),
  .init("otp -jqc a work", "json=true quiet=true container=a"),
  .init("otp -jqca work", "json=true quiet=true container=a"),
  .init("otp -c=a work", "container==a"),
  .init("otp --container a work", "container=a"),
  .init("otp --container=a work", "container=a"),
  .init("otp --container=a=b work", "container=a=b"),
  .init("otp --container= work", "container="),
  .init("otp --container --json work", "container=--json"),
  .init("otp --container -- work", "container=--"),
  .init("otp --container a -c b --container=c work", "container=a,b,c"),
  .init("otp -d 8 work", "digits=8"),
  .init("otp -d7 work", "digits=7"),
  // Options of the program, before and after the command.
  .init("--verbose otp work", "verbose=1"),
  .init("otp --verbose work -v", "verbose=2"),
  .init("-vv otp work -v", "verbose=3"),
  .init("--home /tmp otp work", "home=/tmp"),
  .init("otp --home=/tmp work", "home=/tmp"),
  // Options of a command before it.
  .init("--json otp work", "json=true"),
  .init("--container a -j --verbose otp work", "verbose=1 json=true container=a"),
  .init("-ca -vj otp work", "verbose=1 json=true container=a"),
  .init("--json user list", .unknownOption("--json", suggestion: nil)),
  .init("-j user list", .unknownOption("-j", suggestion: nil)),
  .init("--json=yes otp work", .unexpectedValue(option: "--json")),
  .init("--digits 7 otp --digits 8 work", .repeatedOption("--digits")),
  .init("--format x otp work", .notAChoice(name: "--format", choices: ["plain", "grouped"])),
  .init("--container otp", .missingCommand(choices: ["otp", "user", "help", "completion"])),
  // Operands.
  .init("otp work a b c", "file=a,b,c"),
  .init("otp -", "account=-"),
  .init("otp -- -j", "account=-j"),
  .init("otp -- -- --json", "account=-- file=--json"),
  .init("otp work -- -x --json", "file=-x,--json"),
  .init("otp ''", "account="),
  .init("-- otp work", ""),
  // Values.
  .init("otp --valid 90 work", "valid=90"),
  .init("otp --valid 90s work", "valid=90"),
  .init("otp --valid 24h work", "valid=86400"),
  .init("otp --valid 1d work", "valid=86400"),
  .init("otp --format grouped work", "format=grouped"),
  // Rejections.
  .init("otp --jsno work", .unknownOption("--jsno", suggestion: "--json")),
  .init("otp --jsn=x work", .unknownOption("--jsn", suggestion: "--json")),
  .init("otp --contain a work", .unknownOption("--contain", suggestion: "--container")),
  .init("otp --xyzzy work", .unknownOption("--xyzzy", suggestion: nil)),
  .init("otp --hlep", .unknownOption("--hlep", suggestion: "--help")),
  .init("otp -jx work", .unknownOption("-x", suggestion: nil)),
  .init("--versoin", .unknownOption("--versoin", suggestion: "--version")),
  .init("otpp work", .unknownCommand("otpp", suggestion: "otp")),
  .init("version", .unknownCommand("version", suggestion: "--version")),
  .init("user version", .unknownCommand("version", suggestion: nil)),
  .init("frobnicate", .unknownCommand("frobnicate", suggestion: nil)),
  .init("''", .unknownCommand("", suggestion: nil)),
  .init("user creat", .unknownCommand("creat", suggestion: "create")),
  .init("user add", .unknownCommand("add", suggestion: "create")),
  .init("user lst", .unknownCommand("lst", suggestion: "create")),
  .init("", .missingCommand(choices: ["otp", "user", "help", "completion"])),
  .init("user", .missingCommand(choices: ["create", "list"])),
  .init("otp work --container", .missingValue(option: "--container")),
  .init("otp work -c", .missingValue(option: "-c")),
  .init("otp --json=yes work", .unexpectedValue(option: "--json")),
  .init("otp --help=yes", .unexpectedValue(option: "--help")),
  .init("otp -d 6 --digits 7 work", .repeatedOption("--digits")),
  .init("otp", .missingArgument("ACCOUNT")),
  .init("user create", .missingOption("--role")),
  .init("user create --role admin", .missingArgument("NAME")),
  .init("user create --role admin a b c", .tooManyArguments(given: 3, maximum: 2)),
  .init("user list a", .tooManyArguments(given: 1, maximum: 0)),
  .init("user create --role root a", .notAChoice(name: "--role", choices: ["admin", "user"])),
  .init("otp --format x work", .notAChoice(name: "--format", choices: ["plain", "grouped"])),
  .init("completion tcsh", .notAChoice(name: "SHELL", choices: ["bash", "zsh", "fish"])),
  .init("otp --digits 5 work", .notANumber(name: "--digits", range: 6...8)),
  .init("otp --digits 9 work", .notANumber(name: "--digits", range: 6...8)),
  .init("otp --digits six work", .notANumber(name: "--digits", range: 6...8)),
  .init("otp --digits= work", .notANumber(name: "--digits", range: 6...8)),
  .init("otp --digits +7 work", .notANumber(name: "--digits", range: 6...8)),
  .init("otp --digits 0x7 work", .notANumber(name: "--digits", range: 6...8)),
  .init("otp --digits 99999999999999999999 work", .notANumber(name: "--digits", range: 6...8)),
  .init("otp --valid 0 work", .notADuration(name: "--valid", range: 1...86400)),
  .init("otp --valid 2d work", .notADuration(name: "--valid", range: 1...86400)),
  .init("otp --valid s work", .notADuration(name: "--valid", range: 1...86400)),
  .init("otp --valid -5m work", .notADuration(name: "--valid", range: 1...86400)),
  .init("otp --valid 9223372036854775807d work", .notADuration(name: "--valid", range: 1...86400)),
  .init(
    "--home '' otp work", .refused("--home is empty; name a folder, such as . for the present one")),
  .init("otp work a ''", .refused("FILE is empty; name a file")),
  .init("help otp extra", .unknownCommand("extra", suggestion: nil)),
  .init(
    "help --man otp",
    .refused("help --man prints the manual page of all commands; leave the command out, or --man")),
  .init("help usr", .unknownCommand("usr", suggestion: "user")),
]

@Suite("Command lines", .timeLimit(.minutes(10))) struct ParserTests {
  @Test("are read or refused", arguments: parserCases)
  func table(_ sample: ParserCase) async throws {
    let failure: UsageFailure
    let result = await runSample(sample.words)
    switch sample.expected {
    case .success(let printed):
      #expect(result.output == printed)
      #expect(result.code == .success)
      #expect(result.messages == "")
      return
    case .failure(let expected): failure = expected
    }
    #expect(result.code == .usage)
    #expect(result.output == "")
    let lines = result.messages.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.hasSuffix(": \(failure)") == true, "\(result.messages)")
    #expect(lines.last?.hasPrefix("Run 'sample") == true)
  }

  @Test("nested commands take the options of their group and of the program")
  func nested() async {
    #expect(
      await runSample(["user", "create", "--role", "admin", "alice", "a remark"]).output
        == "alice admin a remark\n")
    #expect(await runSample(["user", "create", "--role=user", "bob"]).output == "bob user -\n")
    #expect(await runSample(["user", "--all", "list"]).output == "all\n")
    #expect(await runSample(["--role", "user", "user", "create", "bob"]).output == "bob user -\n")
    #expect(await runSample(["--all", "user", "list"]).output == "all\n")
    #expect(await runSample(["-va", "user", "list"]).output == "all\n")
    #expect(await runSample(["user", "list", "-a", "-v"]).output == "all\n")
    #expect(await runSample(["user", "list"]).output == "active\n")
  }

  @Test(
    "help and version have precedence over later arguments",
    arguments: [
      (["--help"], [String]()), (["-h"], []), (["help"], []), (["otp", "-h"], ["otp"]),
      (["otp", "--help", "--bogus"], ["otp"]), (["otp", "-jh"], ["otp"]), (["help", "otp"], ["otp"]),
      (["user", "--help"], ["user"]), (["user", "create", "--help"], ["user", "create"]),
      (["help", "user", "create"], ["user", "create"]),
    ])
  func help(_ words: [String], _ path: [String]) async {
    let result = await runSample(words)
    #expect(result.code == .success)
    #expect(result.output == sampleProgram().helpText(for: path, width: 80))
    #expect(result.messages == "")
  }

  @Test("the version is printed", arguments: [["--version"], ["otp", "--version", "--bogus"]])
  func version(_ words: [String]) async {
    #expect(await runSample(words).output == "sample 1.2.3\n")
  }

  @Test("arguments that are not UTF-8 are refused by their position")
  func argumentsThatAreNotText() throws {
    let name = Array("sample".utf8)
    #expect(try Program.words(of: [name, Array("zoë".utf8), []]) == ["zoë", ""])
    #expect(try Program.words(of: []) == [] && Program.words(of: [[0xFF]]) == [])
    #expect(
      throws: UsageFailure.refused(
        "argument 2 is not UTF-8 text; if it names a file or folder, rename that")
    ) { try Program.words(of: [name, Array("otp".utf8), [0x62, 0xFF]]) }
  }

  @Test(
    "a listed environment variable that is not UTF-8 is refused by name, others are ignored"
  )
  func variablesThatAreNotText() throws {
    let program = Program(
      "sample", "Show it", version: "1", date: "2026-11-21",
      commands: [Command("otp", "Print it") { _ in .success }],
      environment: [.init("SAMPLE_HOME", "A folder"), .init("XDG_A, XDG_B", "Two more")])
    try program.checkEnvironment { _ in nil }
    try program.checkEnvironment { $0 == "XDG_A" ? [] : Array("/zoë".utf8) }
    for name in ["SAMPLE_HOME", "XDG_A", "XDG_B"] {
      #expect(
        throws: UsageFailure.refused(
          "the variable \(ours: name) is not UTF-8 text; set it to another value, and if it names a file or folder, rename that"
        )
      ) { try program.checkEnvironment { $0 == name ? [0x2F, 0xFF] : nil } }
    }
    try program.checkEnvironment { $0 == "OTHER" ? [0xFF] : nil }
  }

  @Test("a handler's error gives its exit code and a sanitised line")
  func failures() async {
    func run(_ how: String) async -> (ExitCode, String) {
      let result = await runSample(
        ["fail", how], sampleProgram { $0 is SampleFailure ? .dataError : .failure })
      return (result.code, result.messages)
    }
    #expect(await run("command") == (.unavailable, "sample fail: the server is away; try later␛[31m\n"))
    #expect(
      await run("usage")
        == (.usage, "sample fail: --a and --b contradict each other\nRun 'sample fail --help' for usage.\n"))
    #expect(await run("secret").0 == .usage)
    #expect(await run("cancel") == (.interrupted, "sample fail: stopped\n"))
    #expect(await run("code") == (.protocolError, ""))
    #expect(await run("other") == (.dataError, "sample fail: a failure of the domain\n"))
  }

  @Test("a program without commands takes operands itself, and 'help' is one of them")
  func single() async {
    let program = Program(
      single: Command(
        "check", "Check files", options: [.flag("deep", "Look closer", short: "d")],
        arguments: [Argument("file", "What to check", arity: .many(minimum: 1))]
      ) { arguments in
        arguments.output.print("\(arguments.isSet("deep")) \(arguments.strings("file"))")
        return .success
      }, version: "1", date: "2026-11-21")
    #expect(await runSample(["help", "-d", "a"], program).output == #"true ["help", "a"]"# + "\n")
    #expect(await runSample([], program).messages.hasPrefix("check: FILE is missing\n"))
    #expect(
      await runSample(["--help"], program).output.hasPrefix(
        "Check files.\n\nUsage: check [OPTIONS] FILE...\n"))
  }

  @Test("a message shows neither values nor operands")
  func discretion() async {
    for words in [
      ["otp", "--digits", "hunter2", "work"], ["user", "list", "hunter2"], ["otp", "--json=hunter2", "work"],
      ["user", "create", "--role=hunter2", "a"], ["otp", "--bogus=hunter2"],
    ] {
      let result = await runSample(words)
      #expect(result.code == .usage)
      #expect(!result.messages.contains("hunter2"), "\(result.messages)")
    }
  }

  @Test("an operand that begins with - gets a hint to use --")
  func operandLikeAnOption() async {
    let hint = "sample otp: unknown option -r; write -- before an operand that begins with -\n"
    #expect(await runSample(["otp", "-r5snAe8"]).messages.contains(hint))
    #expect(!(await runSample(["otp", "--r5snAe8"]).messages.contains("write --")))
    #expect(await runSample(["otp", "--", "-r5snAe8"]).code == .success)
  }

  @Test("an error names the command parsed so far, not words after the unknown one")
  func commandToBlame() async {
    for (words, blamed) in [
      (
        ["frobnicate", "user", "list"],
        "sample: unknown command 'frobnicate'\nRun 'sample --help' for usage.\n"
      ),
      (["user", "frobnicate", "list"], "sample user: unknown command 'frobnicate'\n"),
      (["--frobnicate", "otp"], "sample: unknown option --frobnicate\n"),
      (["otp", "--frobnicate"], "sample otp: unknown option --frobnicate"),
    ] {
      let result = await runSample(words)
      #expect(result.messages.hasPrefix(blamed), "\(result.messages)")
    }
  }

  @Test("typed text cannot control the terminal")
  func hostileNames() async {
    let result = await runSample(["\u{1B}]0;title\u{7}\u{202E}"])
    #expect(result.messages.hasPrefix("sample: unknown command '␛]0;title␇\\u{202E}'\n"))
    let long = await runSample(["--" + String(repeating: "x", count: 100_000)])
    #expect(long.messages.count < 200)
  }

  @Test("typed readers of a choice and of a secret's source")
  func typedReaders() async throws {
    enum Role: String, CaseIterable { case admin, user }
    let request = try sampleProgram().parse(["user", "create", "--role=user", "a", "--password-fd", "3"])
    guard case .run(let command, let arguments) = request else {
      Issue.record("no command")
      return
    }
    #expect(command.name == "create")
    #expect(try arguments.choice("role", of: Role.self) == .user)
    #expect(try arguments.secretInput("password-fd") == .descriptor(3))
    #expect(try arguments.optionalInteger("password-fd", in: 0...9) == 3)
    enum Other: String, CaseIterable { case first, second }
    #expect(throws: UsageFailure.notAChoice(name: "--role", choices: ["first", "second"])) {
      try arguments.choice("role", of: Other.self)
    }
  }
}

@Suite("Contradictory declarations of options", .timeLimit(.minutes(10)))
struct DeclarationTests {
  @Test func nameTwice() async {
    await #expect(processExitsWith: .failure) {
      _ = Program(
        "p", "s", version: "1", date: "2026-11-21", options: [.flag("json", "h")],
        commands: [Command("c", "s", options: [.flag("json", "h")]) { _ in .success }])
    }
  }

  @Test func reservedName() async {
    await #expect(processExitsWith: .failure) {
      _ = Program(
        "p", "s", version: "1", date: "2026-11-21",
        commands: [Command("c", "s", options: [.flag("head", "h", short: "h")]) { _ in .success }])
    }
  }

  @Test func requiredAfterOptional() async {
    await #expect(processExitsWith: .failure) {
      _ = Program(
        "p", "s", version: "1", date: "2026-11-21",
        commands: [
          Command("c", "s", arguments: [Argument("a", "h", arity: .optional), Argument("b", "h")]) { _ in
            .success
          }
        ])
    }
  }

  @Test func undeclaredName() async {
    await #expect(processExitsWith: .failure) {
      let program = Program(
        "p", "s", version: "1", date: "2026-11-21",
        commands: [
          Command("c", "s") { arguments in arguments.isSet("jsno") ? .success : .success }
        ])
      _ = await program.run(["c"])
    }
  }
}
