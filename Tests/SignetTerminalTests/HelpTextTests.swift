import SignetTerminal
import Testing

@Suite("Help") struct HelpTextTests {
  @Test("of the program, exactly")
  func program() {
    #expect(
      sampleProgram().helpText() == """
        Show what a declaration gives.

        Usage: sample [OPTIONS] COMMAND

        The first paragraph of a description. It has two sentences.

        The second paragraph.

        Commands:
          otp         Print a one-time password
          user        Manage users
          help        Print the help of a command
          completion  Print a completion script for a shell

        Options:
          -v, --verbose    Say more
              --home HOME  Use this folder
          -h, --help       Print this help and exit
              --version    Print the version and exit

        Environment:
          SAMPLE_HOME  The folder that --home overrides

        Files:
          ~/.config/sample  What was configured

        Exit codes:
          0   All went well
          64  The command line is wrong

        Examples:
          sample user list
              Lists the users

        Run 'sample COMMAND --help' for the help of a command.

        """)
  }

  @Test("of a command in a narrow window, exactly")
  func narrow() {
    #expect(
      sampleProgram().helpText(for: ["otp"], width: 50) == """
        Print a one-time password.

        Usage: sample otp [OPTIONS] ACCOUNT [FILE...]

        Prints the code of the current period.

        Arguments:
          ACCOUNT  The account's name
          FILE     Files to read

        Options:
          -j, --json            Print JSON
          -q, --quiet           Print nothing
          -c, --container NAME  Use this container
                                (repeatable)
          -d, --digits COUNT    How many digits (default:
                                6)
              --valid DURATION  How long it is valid
                                (default: 15m)
              --format FORMAT   The form of the output
                                (plain, grouped)
          -h, --help            Print this help and exit

        Options of all commands:
          -v, --verbose    Say more
              --home HOME  Use this folder

        Examples:
          sample otp --json work
              Prints the code as JSON

        """)
  }

  @Test("puts the text below a term that is too long")
  func longTerm() {
    let program = Program(
      single: Command(
        "p", "Do it",
        options: [.value("certificate-authority", "Trust this", named: "file"), .flag("go", "Go")]
      ) { _ in .success }, version: "1", date: "2026-11-21")
    #expect(
      program.helpText().contains(
        """
              --certificate-authority FILE
                         Trust this
              --go       Go
        """))
  }

  @Test("names required options in the usage line")
  func usage() {
    let text = sampleProgram().helpText(for: ["user", "create"])
    #expect(text.contains("Usage: sample user create [OPTIONS] --role ROLE NAME [NOTE]\n"))
    #expect(text.contains("What the user may do (admin, user; required)\n"))
  }

  @Test("fits into any width", arguments: [1, 40, 60, 80, 100, 1000])
  func widths(_ width: Int) {
    for path in [[], ["otp"], ["user"], ["user", "create"]] {
      let lines = sampleProgram().helpText(for: path, width: width).split(separator: "\n")
      let widest = lines.map { TerminalText.width(String($0)) }.max() ?? 0
      #expect(widest <= min(max(width, 54), 100), "\(path)")
      #expect(lines.allSatisfy { !$0.hasSuffix(" ") })
    }
  }

  @Test("never shows hidden commands and options")
  func hidden() {
    let program = sampleProgram()
    #expect(!program.helpText().contains("fail"))
    #expect(!program.helpText(for: ["help"]).contains("--man"))
    #expect(!program.manPage().contains("Fail in"))
    for shell in Shell.allCases { #expect(!program.completionScript(for: shell).contains("'fail'")) }
  }
}
