import Foundation
import SignetTesting
import Testing

/// The commands of the README, as they stand there.
@Suite(.serialized, .timeLimit(.minutes(3))) struct TourTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  private static let tools = ["bash", "curl", "jose", "jq", "openssl", "python3"]
  private static let canRun =
    ContinuousIntegration.isHere
    || tools.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }

  private func run(_ document: String) async throws -> ServerCommand.Result {
    let process = Process()
    process.executableURL = URL(filePath: "\(Self.root)/Scripts/check-tour")
    let commands = URL(filePath: try ServerCommand.executable()).deletingLastPathComponent().path
    process.arguments = [document, commands, String(try FreePort.find())]
    process.environment = ServerCommand.cleanEnvironment
    process.standardInput = FileHandle.nullDevice
    return try await ChildProcess.finish(process)
  }

  @Test("each works in an empty folder, and prints what the README says", .enabled(if: canRun))
  func readme() async throws {
    let result = try await run("\(Self.root)/README.md")
    #expect(result.status == 0, result.summary)
  }

  @Test("a command that fails, or prints something else, is found", .enabled(if: canRun))
  func control() async throws {
    let folder = try TemporaryFolder()
    let steps = [
      "$ echo one\none": 0, "$ echo one\ntwo": 1, "$ echo one": 1, "$ true\none": 1,
      "$ exit_is_1() { return 1; }; exit_is_1": 1,
      "$ printf 'a\\nb\\nc\\n'\na\n…\nc": 0, "$ echo 123456\n654321": 0,
      "$ cat <<'END'\n> a $b\n> END\na $b": 0,
    ]
    for (step, status) in steps {
      let document = folder.file("document.md")
      try Data("Text\n```console\n\(step)\n```\n".utf8).write(to: URL(filePath: document))
      let result = try await run(document)
      #expect(Int(result.status) == status, "\(step): \(result.summary)")
    }
  }
}
