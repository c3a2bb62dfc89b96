import Foundation
import SignetTestKit
import Testing

/// The commands of the README and of docs/tour.md, which continues in the same folder, exactly as they are written.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TourTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  private static let tools = ["bash", "curl", "jose", "jq", "openssl", "python3"]
  private static let canRun =
    ContinuousIntegration.isHere
    || tools.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }

  private func run(_ document: String) async throws -> ServerCommand.Result {
    try await ChildCommand(
      ["\(Self.root)/Scripts/check-tour", document, Programs.folder, String(FreePort.find())],
      environment: ServerCommand.cleanEnvironment
    ).finish()
  }

  @Test(
    "each command of the tour works in an empty folder and prints the documented output", .enabled(if: canRun)
  )
  func readme() async throws {
    let result = try await run("\(Self.root)/README.md,\(Self.root)/docs/tour.md")
    #expect(result.status == 0, result.summary)
  }

  @Test("a command that fails or prints other output is reported", .enabled(if: canRun))
  func control() async throws {
    let folder = try TemporaryFolder()
    let consoles = [
      "$ echo one\none": 0, "$ echo one\ntwo": 1, "$ echo one": 1, "$ true\none": 1,
      "$ exit_is_1() { return 1; }; exit_is_1": 1,
      "$ printf 'a\\nb\\nc\\n'\na\n…\nc": 0, "$ echo 123456\n654321": 0,
      "$ cat <<'END'\n> a $b\n> END\na $b": 0,
    ]
    // A block of bash fails if any of its commands does, or if the output differs from the block after it.
    let scripts = [
      "echo one": 0, "false\ntrue": 1, "true\nfalse": 1, "false | true": 1, "exit 3\ntrue": 1,
      "echo one\n```\n\n```\none": 0, "echo one\n```\n\n```\ntwo": 1, "echo one\n```\n\n```\none\ntwo": 1,
      "echo one\necho two\n```\n```\none": 1, "echo one and more\n```\n```\none an…": 0,
      "echo one and more\n```\n```\ntwo an…": 1, "echo one\n```\nText\n\n```\ntwo": 0,
      "date +%s\n```\n\n```\n1795235467": 0,
    ]
    let steps =
      consoles.map { ("```console\n\($0)\n```", $1) } + scripts.map { ("```bash\n\($0)\n```", $1) }
    for (step, status) in steps {
      let document = folder.file("document.md")
      try Data("Text\n\(step)\n".utf8).write(to: URL(filePath: document))
      let result = try await run(document)
      #expect(Int(result.status) == status, "\(step): \(result.summary)")
    }
  }
}
