import Foundation
import SignetTerminal
import Testing

@Suite("The manual page", .timeLimit(.minutes(10))) struct ManualPageTests {
  @Test("begins with the mdoc header and has the sections in order")
  func sections() {
    let page = sampleProgram().manPage(section: 8)
    #expect(page.hasPrefix(".Dd November 21, 2026\n.Dt SAMPLE 8\n.Os\n.Sh NAME\n.Nm sample\n.Nd "))
    let titles = page.split(separator: "\n").filter { $0.hasPrefix(".Sh ") }.map { $0.dropFirst(4) }
    #expect(
      titles == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES",
        "SEE ALSO",
      ])
    #expect(page.split(separator: "\n").allSatisfy { !$0.hasSuffix(" ") && $0.utf8.count <= 80 })
  }

  @Test("help --man prints it")
  func command() async {
    #expect(await runSample(["help", "--man"]).output == sampleProgram().manPage())
  }

  @Test("causes no mandoc warnings", .needs("mandoc"))
  func lint() throws {
    for program in [sampleProgram(), awkwardProgram] {
      let tool = try #require(installed("mandoc"))
      let result = try runTool(tool, ["-T", "lint", "-W", "all"], input: program.manPage())
      let warnings = result.output.split(separator: "\n") + result.messages.split(separator: "\n")
      // Other pages are not installed here, and the operating system is the reader's.
      let relevant = warnings.filter {
        !$0.contains("referenced manual not found") && !$0.contains("operating system explicitly specified")
      }
      #expect(relevant == [])
    }
  }

  @Test("shows text as it was declared", .needs("mandoc"))
  func rendering() throws {
    let tool = try #require(installed("mandoc"))
    let page = try runTool(tool, ["-T", "ascii", "-O", "width=200"], input: awkwardProgram.manPage()).output
    // mandoc overstrikes for bold and underline.
    let plain = page.replacing(/.\u{8}/, with: "")
    #expect(plain.contains(#"A path such as C:\new\table, and "quoted" text."#))
    #expect(plain.contains(".Sh is no macro here, and 'this is none either."))
    #expect(plain.contains("--ar no"))
    #expect(plain.contains(#"awk --ar "a b" \n"#))
  }

  @Test("is accepted by groff too", .needs("groff"))
  func groff() throws {
    let tool = try #require(installed("groff"))
    let result = try runTool(tool, ["-mandoc", "-Tutf8", "-Kutf8", "-ww"], input: awkwardProgram.manPage())
    #expect(result.status == 0)
    #expect(result.output.replacing(/.\u{8}/, with: "").contains("COMMANDS"))
  }
}

/// A program whose texts look like roff.
private let awkwardProgram = Program(
  "awk-ward", "Test a \\ and a \" in texts", version: "1", date: "2026-02-03",
  description:
    "A path such as C:\\new\\table, and \"quoted\" text.\n\n.Sh is no macro here, and\n'this is none either.",
  commands: [
    Command(
      "Nm".lowercased(), "Print .It", options: [.value("ar", "Not an Ar", short: "a", named: "no")],
      arguments: [Argument("op", "Not an Op")],
      examples: [.init(#"awk --ar "a b" \n"#, "Runs")]
    ) { _ in .success }
  ], environment: [.init("No", "Not a macro")], seeAlso: ["Xr(1)"])
