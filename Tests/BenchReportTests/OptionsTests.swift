import BenchReport
import Testing

/// The options of the command line.
struct OptionsTests {
  /// The exit status of a run that misses its only goal.
  private func status(_ arguments: String...) throws -> Int32 {
    let options = try Options(arguments)
    var report = Report(isQuick: options.isQuick)
    report.begin("group")
    report.add(ReportRow(name: "row", value: 4, unit: "op/s", goal: .rateAtLeast(5)))
    return report.exitStatus(allowsMissed: options.allowsMissed, allowsGaps: true)
  }

  @Test("a missed goal is status 1, with --allow-missed 0, and a quick run has no goals")
  func allowMissed() throws {
    #expect(try status() == 1)
    #expect(try status("--only", "jose,codes") == 1)
    #expect(try status("--allow-missed") == 0)
    #expect(try status("--output", "--allow-missed") == 1)
    #expect(try status("--quick") == 0)
  }

  @Test("--only names groups, and without it all run") func groups() throws {
    #expect(try Options([]).runs("tpm"))
    let options = try Options(["--only", "jose,codes"])
    #expect(options.runs("codes") && !options.runs("tpm"))
  }

  @Test(
    "an unknown option and an option without its value are refused",
    arguments: [["--allow-mised"], ["x"], ["--only"], ["--quick", "--output"]])
  func refused(_ arguments: [String]) {
    #expect(throws: Options.UsageFailure.self) { try Options(arguments) }
  }
}

/// The row for a server that may not be installed.
struct PrivacyIDEARowTests {
  @Test("without a privacyIDEA measurement the row has no ratio and no goal")
  func absent() {
    let row = ReportRow.besidePrivacyIDEA("codes", rate: 5_000, nil)
    #expect(row.name == "codes, beside privacyIDEA" && row.value == 5_000)
    #expect(row.ratio == nil && row.goal == nil && row.comparedWith == "" && !row.isMissed)
    #expect(row.notes.hasPrefix("not compared"))
  }

  @Test("with a privacyIDEA measurement the row has its ratio, and the goal is 200 times that rate")
  func present() {
    let row = ReportRow.besidePrivacyIDEA("codes", rate: 5_000, ("privacyIDEA 3.12", 25))
    #expect(row.ratio == 200 && row.goal?.number == 200 && !row.isMissed && row.notes == "")
    #expect(row.comparedWith.hasPrefix("privacyIDEA 3.12"))
    #expect(ReportRow.besidePrivacyIDEA("codes", rate: 4_999, ("privacyIDEA 3.12", 25)).isMissed)
  }
}
