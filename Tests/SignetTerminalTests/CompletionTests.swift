import Foundation
import SignetTerminal
import Testing

/// Words before the cursor, the last one unfinished, and the completions.
struct CompletionCase: Sendable, CustomTestStringConvertible {
  let words: [String]
  let offers: [String]
  var testDescription: String { words.joined(separator: " ") + "|" }

  init(_ words: [String], _ offers: [String]) {
    self.words = words
    self.offers = offers
  }
}

private let completionCases: [CompletionCase] = [
  .init([""], ["otp", "user", "help", "completion"]),
  .init(["o"], ["otp"]),
  .init(["--"], ["--verbose", "--home", "--help", "--version"]),
  .init(["user", ""], ["create", "list"]),
  .init(["--verbose", "user", "cr"], ["create"]),
  .init(["--home", "otp", "us"], ["user"]),
  .init(["user", "create", "--r"], ["--role"]),
  .init(["user", "create", "--role", ""], ["admin", "user"]),
  .init(["user", "create", "--role", "a"], ["admin"]),
  .init(["otp", "--f"], ["--format"]),
  .init(["otp", "--format", "p"], ["plain"]),
  .init(["otp", "-c", "x", "--ve"], ["--verbose"]),
  .init(["completion", ""], ["bash", "zsh", "fish"]),
  .init(["completion", "f"], ["fish"]),
  .init(["help", ""], ["otp", "user", "help", "completion"]),
  .init(["help", "us"], ["user"]),
  .init(["help", "user", "c"], ["create"]),
  .init(["help", "otp", ""], []),
  .init(["otp", "work", "data"], ["data.txt"]),
  .init(
    ["otp", "-"],
    [
      "--verbose", "-v", "--home", "--json", "-j", "--quiet", "-q", "--container", "-c", "--digits", "-d",
      "--valid", "--format", "--help", "-h",
    ]),
]

@Suite("Completion", .timeLimit(.minutes(10))) struct CompletionTests {
  @Test("in bash", .needs("bash"), arguments: completionCases)
  func bash(_ sample: CompletionCase) throws {
    #expect(try bashOffers(sample.words) == sample.offers.sorted())
  }

  @Test("in bash after an equals sign, which bash makes a word", .needs("bash"))
  func bashEquals() throws {
    #expect(try bashOffers(["user", "create", "--role", "="]) == ["admin", "user"])
    #expect(try bashOffers(["user", "create", "--role", "=", "u"]) == ["user"])
    #expect(try bashOffers(["user", "create", "--role", "=", "user", "--pass"]) == ["--password-fd"])
    #expect(try bashOffers(["user", "create", "--", "--ro"]) == [])
  }

  private func bashOffers(_ words: [String]) throws -> [String] {
    let script =
      sampleProgram().completionScript(for: .bash) + """

        touch data.txt
        COMP_WORDS=(sample \(words.map { "'\($0)'" }.joined(separator: " ")))
        COMP_CWORD=\(words.count)
        set -u
        _sample
        printf '%s\\n' "${COMPREPLY[@]-}"
        """
    let result = try runTool(try #require(installed("bash")), ["--norc", "-s"], input: script)
    #expect(result.messages == "")
    return result.output.split(separator: "\n").map(String.init).sorted()
  }

  @Test("in fish", .needs("fish"), arguments: completionCases)
  func fish(_ sample: CompletionCase) throws {
    let line = (["sample"] + sample.words).joined(separator: " ")
    let script = sampleProgram().completionScript(for: .fish) + "\ntouch data.txt\ncomplete -C '\(line)'\n"
    let result = try runTool(try #require(installed("fish")), ["--no-config"], input: script)
    #expect(result.messages == "")
    let offers = result.output.split(separator: "\n").compactMap {
      $0.split(separator: "\t").first.map(String.init)
    }
    // Fish completes a short option only after one dash, and long ones as well.
    #expect(offers.sorted() == sample.offers.sorted())
  }

  @Test(
    "in zsh: the script loads and defines a function for each command", .needs("zsh"))
  func zsh() throws {
    let script =
      "autoload -Uz compinit; compinit -D\n" + sampleProgram().completionScript(for: .zsh)
      + "\nprint -l $_comps[sample] ${(ok)functions[(I)_sample*]}\n"
    let result = try runTool(try #require(installed("zsh")), ["-f", "-s"], input: script)
    #expect(result.messages == "")
    #expect(
      result.output.split(separator: "\n") == [
        "_sample", "_sample", "_sample_completion", "_sample_help", "_sample_help_completion",
        "_sample_help_help", "_sample_help_otp", "_sample_help_user", "_sample_help_user_create",
        "_sample_help_user_list", "_sample_otp", "_sample_user", "_sample_user_create", "_sample_user_list",
      ])
  }

  @Test("the command prints the script", arguments: Shell.allCases)
  func command(_ shell: Shell) async {
    let result = await runSample(["completion", shell.rawValue])
    #expect(result.output == sampleProgram().completionScript(for: shell))
    #expect(result.code == .success)
  }
}
