import BenchReport
import SignetJSON
import Testing

/// A report's statements about goals, missing groups, and figures without a comparison.
@Suite(.timeLimit(.minutes(10))) struct ReportTests {
  private static let machine = Circumstances(
    commit: "0123abc", flags: "-O", cpu: "Abacus", processors: 2, load: (0.5, 1.5))

  private func row(_ name: String, _ value: Double, ratio: Double? = nil, _ goal: ReportRow.Goal? = nil)
    -> ReportRow
  {
    ReportRow(name: name, value: value, unit: "op/s", ratio: ratio, goal: goal)
  }

  private func report(_ rows: ReportRow..., isQuick: Bool = false) -> Report {
    var report = Report(isQuick: isQuick)
    report.begin("group")
    report.add(rows)
    return report
  }

  /// A row's figures and goal, and whether the row misses it.
  struct GoalCase: Sendable {
    var value = 1.0
    var ratio: Double?
    let goal: ReportRow.Goal
    let isMissed: Bool
  }

  @Test(
    "a goal is missed beyond its limit; its kind decides whether the limit itself meets it",
    arguments: [
      GoalCase(ratio: 0.9, goal: .ratioAtLeast(0.9), isMissed: false),
      GoalCase(ratio: 0.899, goal: .ratioAtLeast(0.9), isMissed: true),
      GoalCase(ratio: 1.01, goal: .ahead, isMissed: false), GoalCase(ratio: 1, goal: .ahead, isMissed: true),
      GoalCase(value: 5, goal: .rateAtLeast(5), isMissed: false),
      GoalCase(value: 4.9, goal: .rateAtLeast(5), isMissed: true),
      GoalCase(value: 4.9, goal: .valueBelow(5), isMissed: false),
      GoalCase(value: 5, goal: .valueBelow(5), isMissed: true),
      GoalCase(goal: .ratioAtLeast(0.9), isMissed: true),
    ])
  func goals(_ expected: GoalCase) {
    let isMissed = expected.isMissed
    let row = row("row", expected.value, ratio: expected.ratio, expected.goal)
    #expect(row.isMissed == isMissed)
    let report = report(row)
    #expect(report.missedCount == (isMissed ? 1 : 0))
    #expect(report.exitStatus(allowsMissed: false, allowsGaps: true) == (isMissed ? 1 : 0))
    #expect(report.exitStatus(allowsMissed: true, allowsGaps: true) == 0)
    #expect(report.table(Self.machine).contains("MISSED") == isMissed)
  }

  @Test("the JSON has the circumstances, each group, and each row with its goal as a number")
  func json() throws {
    var report = report(row("one", 2, ratio: 0.5, .ratioAtLeast(0.75)), row("two", 3))
    report.leaveOut("rows beside a peer", "The peer is not installed.")
    report.begin("absent")
    report.leaveOutGroup("No chip.")
    report.begin("broken")
    report.failGroup("It fell.")
    report.skip("other")
    let json = try JSONObject(parsing: report.json(Self.machine))
    #expect(try json.string("commit") == "0123abc")
    #expect(try json.string("flags") == "-O")
    #expect(try json.string("cpu") == "Abacus")
    #expect(try json.integer("processors") == 2)
    #expect(try json.object("load").number("before") == 0.5)
    #expect(try json.object("load").number("after") == 1.5)
    #expect(try json.bool("quick") == false)
    #expect(try json.integer("missed") == 1)
    #expect(
      try json.array("groups") == [
        [
          "name": "group", "outcome": "measured", "reason": nil,
          "leftOut": [["what": "rows beside a peer", "reason": "The peer is not installed."]],
        ],
        ["name": "absent", "outcome": "left out", "reason": "No chip.", "leftOut": []],
        ["name": "broken", "outcome": "failed", "reason": "It fell.", "leftOut": []],
        ["name": "other", "outcome": "not asked for", "reason": "--only names others", "leftOut": []],
      ])
    let rows = try json.array("rows")
    guard case .object(let one)? = rows.first, case .object(let two)? = rows.last, rows.count == 2 else {
      Issue.record("\(rows.count) rows")
      return
    }
    #expect(try one.string("name") == "one")
    #expect(try one.number("value") == 2)
    #expect(try one.number("ratio") == 0.5)
    #expect(try one.number("goal") == 0.75)
    #expect(try one.string("goal_is") == "ratio at least")
    #expect(try one.bool("missed"))
    #expect(two["ratio"] == .null && two["goal"] == .null && two["goal_is"] == .null)
    #expect(try two.bool("missed") == false)
  }

  @Test("a quick run has no goals, and its report states that")
  func quick() throws {
    let report = report(row("slow", 1, ratio: 0.1, .ahead), isQuick: true)
    #expect(report.exitStatus(allowsMissed: false, allowsGaps: true) == 0)
    #expect(report.table(Self.machine).contains("not judged"))
    let json = try JSONObject(parsing: report.json(Self.machine))
    #expect(try json.bool("quick"))
    #expect(try json.integer("missed") == 0)
  }

  @Test("a failed group fails the run, also a quick run")
  func failure() {
    var report = report(row("one", 1), isQuick: true)
    report.begin("broken")
    report.failGroup("It fell.")
    #expect(report.exitStatus(allowsMissed: true, allowsGaps: true) == 1)
    #expect(report.table(Self.machine).contains("FAILED: broken. It fell."))
  }

  @Test("a missing peer fails a run only if it is required, and its goals are unknown")
  func gaps() {
    var report = report(row("one", 1))
    #expect(report.exitStatus(allowsMissed: false, allowsGaps: false) == 0)
    #expect(report.table(Self.machine).hasSuffix("Every goal is met."))
    report.leaveOut("rows beside a peer", "The peer is not installed.")
    #expect(report.exitStatus(allowsMissed: false, allowsGaps: true) == 0)
    #expect(report.exitStatus(allowsMissed: false, allowsGaps: false) == 1)
    #expect(report.table(Self.machine).hasSuffix("goals of rows beside a peer."))
  }

  @Test("with some groups selected, the summary covers only their goals")
  func someGroups() {
    var report = report(row("one", 1))
    report.skip("other")
    #expect(report.table(Self.machine).hasSuffix("Every goal of the groups that were measured is met."))
    #expect(report.exitStatus(allowsMissed: false, allowsGaps: false) == 0)
  }

  @Test("a name that occurs twice ends the program, in another group too")
  func duplicate() async {
    await #expect(processExitsWith: .failure) {
      var report = Report(isQuick: false)
      report.begin("group")
      report.add(ReportRow(name: "one", value: 1, unit: ""))
      report.begin("other")
      report.add(ReportRow(name: "one", value: 1, unit: ""))
    }
    await #expect(processExitsWith: .success) {
      var report = Report(isQuick: false)
      report.begin("group")
      report.add(ReportRow(name: "one", value: 1, unit: ""))
      report.begin("other")
      report.add(ReportRow(name: "two", value: 1, unit: ""))
    }
  }

  @Test("a figure that is no number ends the program")
  func notANumber() async {
    await #expect(processExitsWith: .failure) {
      var report = Report(isQuick: false)
      report.begin("group")
      report.add(ReportRow(name: "one", value: 1, unit: "", ratio: 1.0 / 0))
    }
  }
}
