import Foundation
import SignetTerminal
import Synchronization
import SignetTestKit
import Testing

/// A program that declares one of each kind of element.
func sampleProgram(
  classify: @escaping @Sendable (any Error) -> ExitCode = { _ in .failure }
) -> Program {
  Program(
    "sample", "Show what a declaration gives", version: "1.2.3", date: "2026-11-21",
    description: "The first paragraph of a description. It has two sentences.\n\nThe second paragraph.",
    options: [
      .flag("verbose", "Say more", short: "v"), .value("home", "Use this folder", completion: .directory),
    ],
    commands: [
      Command(
        "otp", "Print a one-time password", description: "Prints the code of the current period.",
        options: [
          .flag("json", "Print JSON", short: "j"), .flag("quiet", "Print nothing", short: "q"),
          .value("container", "Use this container", short: "c", named: "name", isRepeatable: true),
          .value("digits", "How many digits", short: "d", named: "count", default: "6"),
          .value("valid", "How long it is valid", named: "duration", default: "15m"),
          .value("format", "The form of the output", completion: .choices(["plain", "grouped"])),
        ],
        arguments: [
          Argument("account", "The account's name"),
          Argument("file", "Files to read", arity: .many(minimum: 0), completion: .file),
        ],
        examples: [.init("sample otp --json work", "Prints the code as JSON")]
      ) { arguments in
        let values = try [
          "path=\(arguments.commandPath.joined(separator: "/"))", "verbose=\(arguments.count("verbose"))",
          "json=\(arguments.isSet("json"))", "quiet=\(arguments.isSet("quiet"))",
          "home=\(arguments.optionalString("home") ?? "-")",
          "container=\(arguments.strings("container").joined(separator: ","))",
          "digits=\(arguments.integer("digits", in: 6...8))",
          "valid=\(arguments.seconds("valid", in: 1...86400))",
          "format=\(arguments.optionalString("format") ?? "-")", "account=\(arguments.string("account"))",
          "file=\(arguments.strings("file").joined(separator: ","))",
        ].joined(separator: " ")
        arguments.output.print("\(values)")
        return .success
      },
      Command(
        "user", "Manage users", options: [.flag("all", "Include locked users", short: "a")],
        commands: [
          Command(
            "create", "Create a user",
            options: [
              .value(
                "role", "What the user may do", isRequired: true, completion: .choices(["admin", "user"])),
              .value("password-fd", "Read the password from this descriptor", named: "n"),
            ],
            arguments: [Argument("name", "The new name"), Argument("note", "A remark", arity: .optional)],
            synonyms: ["add", "lst"]
          ) { arguments in
            arguments.output.print(
              "\(arguments.string("name")) \(arguments.string("role")) \(arguments.optionalString("note") ?? "-")"
            )
            return .success
          },
          Command("list", "List users") { arguments in
            arguments.output.print(arguments.isSet("all") ? "all" : "active")
            return .success
          },
        ]),
      Command(
        "fail", "Fail in a chosen way", arguments: [Argument("how", "Which way")], isHidden: true
      ) { arguments in
        switch arguments.string("how") {
        case "command": throw CommandFailure(.unavailable, "the server is away; try later\("\u{1B}[31m")")
        case "usage": throw UsageFailure.refused("--a and --b contradict each other")
        case "secret": throw SecretInputFailure.noTerminal(code: 6)
        case "cancel": throw CancellationError()
        case "code": return .protocolError
        default: throw SampleFailure()
        }
      },
    ],
    exitCodes: [.init(.success, "All went well"), .init(.usage, "The command line is wrong")],
    environment: [.init("SAMPLE_HOME", "The folder that --home overrides")],
    files: [.init("~/.config/sample", "What was configured")],
    examples: [.init("sample user list", "Lists the users")], seeAlso: ["signet-server(8)", "signet(1)"],
    classify: classify)
}

struct SampleFailure: Error, CustomStringConvertible {
  var description: String { "a failure of the domain" }
}

/// Collects a terminal's output.
final class Collector: Sendable {
  private let pieces = Mutex<[String]>([])
  var text: String { pieces.withLock { $0.joined() } }

  func terminal(width: Int = 80, isTerminal: Bool = false, usesColour: Bool = false) -> Terminal {
    Terminal(width: width, isTerminal: isTerminal, usesColour: usesColour) { [self] text in
      pieces.withLock { $0.append(text) }
    }
  }
}

/// Runs the sample program with words; returns its exit code, output and messages.
func runSample(
  _ words: [String], _ program: Program = sampleProgram()
) async -> (code: ExitCode, output: String, messages: String) {
  let output = Collector()
  let messages = Collector()
  let code = await program.run(words, output: output.terminal(), errorOutput: messages.terminal())
  return (code, output.text, messages.text)
}

/// Returns the path of a program, or `nil` if it is not installed.
func installed(_ name: String) -> String? {
  ["/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test without a program, but lets it fail in CI.
  static func needs(_ program: String) -> Self {
    .enabled(if: installed(program) != nil || ContinuousIntegration.isHere, "needs \(program)")
  }
}

/// Runs a program with `input`; returns its status, output and messages.
func runTool(
  _ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]
) throws -> (status: Int32, output: String, messages: String) {
  let folder = try TemporaryFolder()
  let result = try ChildCommand(
    [path] + arguments,
    environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder.path].merging(environment) {
      $1
    },
    folder: folder.path, input: .bytes(Array(input.utf8))
  ).finish()
  return (result.status, result.output, result.errorOutput)
}
