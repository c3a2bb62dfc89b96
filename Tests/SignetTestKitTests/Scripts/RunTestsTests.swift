import Foundation
import SignetTestKit
import Testing

/// `Scripts/run-tests` with a program that simulates a test bundle: the detected failures, and their messages.
@Suite("Test runner", .timeLimit(.minutes(5))) struct RunTestsTests {
  /// A test of the bundle, with its result: `passes`, `fails`, `is skipped`, `dies`, `hangs` or `does not run`.
  private struct Entry: Encodable {
    let test: String
    let fate: String
    var seconds = 1.0

    init(_ test: String, _ fate: String = "passes", seconds: Double = 1) {
      (self.test, self.fate, self.seconds) = (test, fate, seconds)
    }
  }

  /// Lists and runs the tests of a plan, with the events that Swift Testing writes.
  private static let bundle = """
    #!/usr/bin/env python3
    import json, os, re, signal, sys, time
    with open(sys.argv[0] + ".plan") as file:
        plan = json.load(file)
    words = sys.argv[1:]
    if "--list-tests" in words:
        for entry in plan:
            print(entry["test"] + "()")
        sys.exit()
    assert "--no-parallel" in words and words[:2] == ["--testing-library", "swift-testing"]
    pattern = words[words.index("--filter") + 1]
    events = open(words[words.index("--event-stream-output-path") + 1], "w", buffering=1)
    now, failed = 0.0, False
    def event(kind, test=None, text="", **more):
        payload = {"kind": kind, "instant": {"absolute": now}, "messages": [{"symbol": "default", "text": text}], **more}
        if test: payload["testID"] = test + "()/File.swift:1:2"
        events.write(json.dumps({"kind": "event", "version": 0, "payload": payload}) + "\\n")
    event("runStarted")
    for entry in plan:
        test, fate = entry["test"], entry["fate"]
        if not re.search(pattern, test + "()") or fate == "does not run": continue
        if fate == "is skipped":
            event("testSkipped", test, "needs a tool")
            continue
        event("testStarted", test)
        if fate == "dies": os.kill(os.getpid(), signal.SIGKILL)
        if fate == "hangs": time.sleep(600)
        now += entry["seconds"]
        if fate == "fails":
            failed = True
            place = {"fileID": test.split(".")[0] + "/File.swift", "line": 7}
            event("issueRecorded", test, "Expectation failed", issue={"isKnown": False, "sourceLocation": place})
        event("testEnded", test)
    event("runEnded")
    sys.exit(1 if failed else 0)
    """

  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../..").standardized.path

  private func run(_ plan: [Entry], _ words: [String] = []) async throws -> (
    status: Int32, lines: [String], errors: String
  ) {
    let folder = try TemporaryFolder()
    let bundle = folder.file("bundle")
    try Data(Self.bundle.utf8).write(to: URL(filePath: bundle))
    #expect(chmod(bundle, 0o755) == 0)
    try JSONEncoder().encode(plan).write(to: URL(filePath: "\(bundle).plan"))
    try Data("# Skips.\nOne.FirstTests/known needs a tool\n".utf8)
      .write(to: URL(filePath: folder.file("allowed")))
    let given = words.map { $0.replacing("FOLDER", with: folder.path) }
    let command = ChildCommand(
      ["\(Self.root)/Scripts/run-tests", bundle, "--logs", folder.file("logs")] + given)
    let result = try await command.finish()
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return (result.status, lines.dropLast(), result.errorOutput)
  }

  @Test("tests that pass: status 0, their number in the last line, and the ten slowest")
  func passes() async throws {
    let plan = (1...12).map { Entry("One.FirstTests/test\($0)", seconds: Double($0)) }
    let (status, lines, _) = try await run(plan + [Entry("Two.SecondTests/alone", seconds: 0.5)])
    #expect(status == 0 && lines.last == "13 passed, 0 failed, 0 skipped", "\(lines)")
    let start = try #require(lines.firstIndex(of: "The ten slowest tests:"))
    let slowest = lines[(start + 1)...].prefix { !$0.isEmpty }
    #expect(
      slowest.map { $0.trimmingCharacters(in: .whitespaces) }
        == (3...12).reversed().map { "\($0).0 s  One.FirstTests/test\($0)" })
    #expect(!lines.contains("Failed:") && !lines.contains("Skipped:"))
  }

  @Test("a test that fails: status 1, and the summary names its module, suite and place")
  func fails() async throws {
    let plan = [
      Entry("One.FirstTests/same", "fails"), Entry("One.FirstTests/good"), Entry("Two.SecondTests/same"),
    ]
    let (status, lines, _) = try await run(plan)
    #expect(status == 1 && lines.last == "2 passed, 1 failed, 0 skipped", "\(lines)")
    let start = try #require(lines.firstIndex(of: "Failed:"))
    #expect(lines[start + 1] == "  One.FirstTests/same: One/File.swift:7: Expectation failed", "\(lines)")
  }

  @Test("a skip is a failure if there is a list without it")
  func skips() async throws {
    let plan = [
      Entry("One.FirstTests/known", "is skipped"), Entry("One.FirstTests/other", "is skipped"),
      Entry("One.FirstTests/good"),
    ]
    let free = try await run(plan)
    #expect(free.status == 0 && free.lines.last == "1 passed, 0 failed, 2 skipped", "\(free.lines)")
    #expect(free.lines.contains("  One.FirstTests/known: needs a tool"))
    let strict = try await run(plan, ["--allowed-skips", "FOLDER/allowed"])
    #expect(strict.status == 1 && strict.lines.last == "1 passed, 1 failed, 1 skipped", "\(strict.lines)")
    #expect(
      strict.lines.contains { $0.hasPrefix("  One.FirstTests/other: it was skipped, and ") },
      "\(strict.lines)")
    let none = try await run(plan, ["--allowed-skips", "/dev/null"])
    #expect(none.status == 1 && none.lines.last == "1 passed, 2 failed, 0 skipped", "\(none.lines)")
  }

  @Test("a process that ends early is a failure, and so are the tests it did not run")
  func dies() async throws {
    let plan = [
      Entry("One.FirstTests/good"), Entry("One.FirstTests/crash", "dies"), Entry("One.FirstTests/later"),
      Entry("Two.SecondTests/good"),
    ]
    let (status, lines, _) = try await run(plan)
    #expect(status == 1 && lines.last == "2 passed, 3 failed, 0 skipped", "\(lines)")
    for line in [
      "  One: the process ended early (status -9), while it ran One.FirstTests/crash",
      "  One.FirstTests/crash: it did not run to its end",
      "  One.FirstTests/later: it did not run to its end",
    ] { #expect(lines.contains(line), "\(lines)") }
  }

  @Test("a test that is listed and does not run is a failure") func missing() async throws {
    let (status, lines, _) = try await run([
      Entry("One.FirstTests/good"), Entry("One.FirstTests/lost", "does not run"),
    ])
    #expect(status == 1 && lines.last == "1 passed, 1 failed, 0 skipped", "\(lines)")
    #expect(lines.contains("  One.FirstTests/lost: it did not run to its end"), "\(lines)")
  }

  @Test("a process that exceeds its time is ended, and is a failure") func hangs() async throws {
    let (status, lines, _) = try await run([Entry("One.FirstTests/slow", "hangs")], ["--limit", "2"])
    #expect(status == 1 && lines.last == "0 passed, 2 failed, 0 skipped", "\(lines)")
    #expect(lines.contains { $0.hasPrefix("  One: ended after 2 s") }, "\(lines)")
  }

  @Test("only the tests that all filters name are run") func filters() async throws {
    let plan = [
      Entry("One.FirstTests/good"), Entry("One.FirstTests/bad", "fails"), Entry("Two.SecondTests/good"),
    ]
    let (status, lines, _) = try await run(plan, ["--filter", "^One[.]", "--filter", "good"])
    #expect(status == 0 && lines.last == "1 passed, 0 failed, 0 skipped", "\(lines)")
  }

  @Test(
    "invalid arguments are refused before anything runs",
    arguments: [
      ["--workers", "0"], ["--workers", "x"], ["--limit", "0"], ["--filter", "["], ["--filter", "nothing"],
      ["--unknown"],
    ])
  func refuses(_ words: [String]) async throws {
    let (status, lines, errors) = try await run([Entry("One.FirstTests/good")], words)
    #expect(status == 64 && lines.isEmpty && !errors.isEmpty, "\(lines) \(errors)")
  }
}
