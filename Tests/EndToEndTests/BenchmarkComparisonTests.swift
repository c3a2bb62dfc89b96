import Foundation
import SignetTestKit
import Testing

/// `Scripts/bench --compare` and `--goals`.
@Suite(.timeLimit(.minutes(10))) struct BenchmarkComparisonTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  private static let canRun =
    ContinuousIntegration.isHere || FileManager.default.isExecutableFile(atPath: "/usr/bin/jq")

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func compare(_ old: String, _ new: String) async throws -> ServerCommand.Result {
    for (name, text) in [("old.json", old), ("new.json", new)] {
      try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
    }
    return try await compare(folder.file("old.json"), in: folder.file("new.json"))
  }

  private func compare(_ old: String, in new: String) async throws -> ServerCommand.Result {
    try await ChildCommand(
      ["\(Self.root)/Scripts/bench", "--compare", old, new], environment: ServerCommand.cleanEnvironment
    ).finish()
  }

  private func result(
    commit: String = "a", cpu: String = "Abacus", isQuick: Bool = false, _ rows: (String, Double, String)...
  ) -> String {
    let rows = rows.map { #"{"name":"\#($0)","value":\#($1),"unit":"\#($2)"}"# }.joined(separator: ",")
    return
      #"{"commit":"\#(commit)","flags":"","cpu":"\#(cpu)","processors":2,"load":{"before":1,"after":1},"quick":\#(isQuick),"rows":[\#(rows)]}"#
  }

  @Test(
    "rows are matched by name, changes are in percent, and unmatched rows are named", .enabled(if: canRun))
  func table() async throws {
    let compared = try await compare(
      result(("code", 100, "op/s"), ("code again", 0, "ms"), ("gone", 1, "ms"), ("unit", 2.5, "us")),
      result(("unit", 2, "ms"), ("come", 1, "ms"), ("code", 150, "op/s"), ("code again", 3, "ms")))
    #expect(compared.status == 0, compared.summary)
    let lines = compared.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    #expect(
      lines == [
        "measurement unit old new change", "code op/s 100 150 +50 %", "code again ms 0 3 -",
        "unit us, now ms 2.5 2 -", "Only in \(folder.file("old.json")): gone",
        "Only in \(folder.file("new.json")): come",
      ])
  }

  @Test("a missing row is reported even if its name is part of another row's name", .enabled(if: canRun))
  func partOfAName() async throws {
    let compared = try await compare(result(("code", 1, "ms")), result(("code again", 1, "ms")))
    #expect(compared.output.contains("Only in \(folder.file("old.json")): code\n"), compared.summary)
  }

  @Test("a different commit, a different processor and a quick run are named", .enabled(if: canRun))
  func circumstances() async throws {
    let row = ("code", 100.0, "op/s")
    let compared = try await compare(
      result(row), result(commit: "b", cpu: "Slide rule", isQuick: true, row))
    #expect(compared.status == 0, compared.summary)
    for line in [
      "Another commit: a, now b", "ANOTHER PROCESSOR: Abacus, now Slide rule", "A quick run is among them",
    ] {
      #expect(compared.output.contains(line), compared.summary)
    }
    let same = try await compare(result(row), result(row))
    #expect(same.output.split(separator: "\n").count == 2, same.summary)
  }

  @Test(
    "a file that holds no result is refused", .enabled(if: canRun),
    arguments: ["", "[]", "x", "{}", #"{"rows":[{"name":"code"}]}"#, "{}{}"])
  func refused(_ text: String) async throws {
    let row = ("code", 100.0, "op/s")
    for (old, new, name) in [(text, result(row), "old.json"), (result(row), text, "new.json")] {
      let compared = try await compare(old, new)
      #expect(compared.status == 65, compared.summary)
      #expect(
        compared.output.isEmpty && compared.errorOutput.contains("\(name) is no result of"), compared.summary)
    }
  }

  @Test("rows with goals are a table of Markdown, in which a missed one says so", .enabled(if: canRun))
  func goals() async throws {
    let file = folder.file("bench.json")
    let rows =
      #"{"name":"a|b","value":2,"unit":"ms","limit_or_peer":"raw","ratio":0.5,"goal":0.4,"goal_is":"at least","missed":false},"#
      + #"{"name":"late","value":3,"unit":"ms","limit_or_peer":"none","goal":2,"goal_is":"at most","missed":true},"#
      + #"{"name":"free","value":1,"unit":"ms"}"#
    let text =
      #"{"commit":"a","flags":"","cpu":"Abacus","processors":2,"load":{"before":1,"after":1},"quick":false,"rows":[\#(rows)]}"#
    try Data(text.utf8).write(to: URL(filePath: file))
    let table = try await ChildCommand(
      ["\(Self.root)/Scripts/bench", "--goals", file], environment: ServerCommand.cleanEnvironment
    ).finish()
    #expect(table.status == 0, table.summary)
    #expect(
      table.output.split(separator: "\n").suffix(2) == [
        #"| a\|b | 2 ms | raw | 0.5 | at least 0.4 |  |"#,
        "| late | 3 ms | none |  | at most 2 | **missed** |",
      ], table.summary)
  }

  @Test("a missing file is refused", .enabled(if: canRun))
  func missing() async throws {
    let compared = try await compare(folder.file("none.json"), in: folder.file("none.json"))
    #expect(compared.status == 66, compared.summary)
  }

  @Test(
    "without a result, or with more than two, the usage is printed", .enabled(if: canRun),
    arguments: [[], ["old.json", "new.json", "newer.json"]] as [[String]])
  func usage(_ words: [String]) async throws {
    let compared = try await ChildCommand(
      ["\(Self.root)/Scripts/bench", "--compare"] + words, environment: ServerCommand.cleanEnvironment
    ).finish()
    #expect(compared.status == 64, compared.summary)
    #expect(
      compared.output.isEmpty
        && compared.errorOutput == "usage: Scripts/bench --compare OLD.json [NEW.json]\n",
      compared.summary)
  }

  @Test("without jq the comparison fails and names the package to install")
  func withoutJQ() async throws {
    // A PATH for the script with all tools but jq.
    let tools = folder.file("tools")
    try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: false)
    for (name, path) in [("bash", "/bin/bash"), ("dirname", "/usr/bin/dirname")] {
      try FileManager.default.createSymbolicLink(atPath: "\(tools)/\(name)", withDestinationPath: path)
    }
    let file = folder.file("bench.json")
    try Data(result(("code", 100, "op/s")).utf8).write(to: URL(filePath: file))
    for words in [["--compare", file, file], ["--goals", file]] {
      let answer = try await ChildCommand(
        ["\(Self.root)/Scripts/bench"] + words,
        environment: ServerCommand.cleanEnvironment.merging(["PATH": tools]) { $1 }
      ).finish()
      #expect(answer.status == 69, answer.summary)
      #expect(
        answer.output.isEmpty
          && answer.errorOutput == "There is no jq command; Scripts/setup bench installs it.\n",
        answer.summary)
    }
  }
}
