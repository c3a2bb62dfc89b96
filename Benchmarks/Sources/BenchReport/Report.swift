import Foundation
import SignetJSON

/// The measured groups, as a table for readers and as JSON for programs.
package struct Report {
  /// The outcome of a group.
  private enum Outcome {
    /// All rows exist, except those left out.
    case measured
    /// The command line did not name it.
    case notAskedFor
    /// A requirement is not installed.
    case leftOut(String)
    /// An error occurred.
    case failed(String)
  }

  /// Measurements that belong together.
  private struct Group {
    let name: String
    var rows: [ReportRow] = []
    /// The parts without a row, each with the reason.
    var missing: [(what: String, reason: String)] = []
    var outcome = Outcome.measured
  }

  private var groups: [Group] = []
  /// Further remarks.
  private var notes: [String] = []
  /// A tenth of the rounds, and fewer users, to check that everything works; such figures have no goals.
  private let isQuick: Bool

  package init(isQuick: Bool) { self.isQuick = isQuick }

  /// Begins a group for the rows that follow.
  package mutating func begin(_ group: String) { groups.append(Group(name: group)) }

  /// Adds a row to the group.
  ///
  /// Its name must be unique, and its figures must be numbers, since two reports are compared by them.
  package mutating func add(_ row: ReportRow) {
    precondition(!rows.contains { $0.name == row.name }, "two rows have the name \(row.name)")
    precondition(
      row.value.isFinite && (row.ratio ?? 1).isFinite, "\(row.name) has a figure that is no number")
    precondition(!groups.isEmpty, "\(row.name) belongs to no group")
    var row = row
    if isQuick { row.goal = nil }
    groups[groups.count - 1].rows.append(row)
  }

  /// Adds rows to the group.
  package mutating func add(_ rows: [ReportRow]) {
    for row in rows { add(row) }
  }

  /// Adds a remark about the whole report.
  package mutating func note(_ text: String) { notes.append(text) }

  /// Records the reason why a part of the group has no row.
  package mutating func leaveOut(_ what: String, _ reason: String) {
    precondition(!groups.isEmpty, "\(what) belongs to no group")
    groups[groups.count - 1].missing.append((what, reason))
  }

  /// Records a group that the command line did not name.
  package mutating func skip(_ group: String) {
    groups.append(Group(name: group, outcome: .notAskedFor))
  }

  /// Records the reason why the group is not measured, without an error.
  package mutating func leaveOutGroup(_ reason: String) {
    precondition(!groups.isEmpty, "no group has begun")
    groups[groups.count - 1].outcome = .leftOut(reason)
  }

  /// Records an error in the group, which keeps its rows so far.
  package mutating func failGroup(_ reason: String) {
    precondition(!groups.isEmpty, "no group has begun")
    groups[groups.count - 1].outcome = .failed(reason)
  }

  private var rows: [ReportRow] { groups.flatMap(\.rows) }

  /// The number of missed goals.
  package var missedCount: Int { rows.count { $0.isMissed } }

  /// Indicates whether an error prevented the measurement of a group.
  private var hasFailures: Bool {
    groups.contains { if case .failed = $0.outcome { true } else { false } }
  }

  /// Indicates whether a requested measurement was left out.
  private var hasGaps: Bool {
    groups.contains { if case .leftOut = $0.outcome { true } else { !$0.missing.isEmpty } }
  }

  /// Returns the exit status of a run.
  ///
  /// - Parameters:
  ///   - allowsMissed: Whether goals may be missed.
  ///   - allowsGaps: Whether peers and groups may be left out because a requirement is not installed.
  /// - Returns: 1 if a goal is missed, a group failed, or a required part was left out; otherwise 0.
  package func exitStatus(allowsMissed: Bool, allowsGaps: Bool) -> Int32 {
    hasFailures || (hasGaps && !allowsGaps) || (missedCount > 0 && !allowsMissed) ? 1 : 0
  }
}

// MARK: For people

extension Report {
  /// Returns the table; a row that misses its goal ends in `MISSED`.
  package func table(_ circumstances: Circumstances) -> String {
    let header = ["measurement", "value", "unit", "beside", "ratio", "goal", ""]
    let lines =
      [header]
      + rows.map { row in
        [
          row.name, row.value.formatted(), row.unit,
          [row.comparedWith, row.notes].filter { !$0.isEmpty }.joined(separator: "; "),
          row.ratio.map { $0.formatted(digits: 2) } ?? "", row.goalText, row.isMissed ? "MISSED" : "",
        ]
      }
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    let text = lines.map { cells in
      let padded = cells.indices.map { column in
        let space = String(repeating: " ", count: widths[column] - cells[column].count)
        return [1, 4].contains(column) ? space + cells[column] : cells[column] + space
      }
      return String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }
    let load = circumstances.load
    let machine =
      "\(circumstances.cpu), \(circumstances.processors) processors; load average \(load.before.formatted()) before, "
      + "\(load.after.formatted()) after; commit \(circumstances.commit)"
    return (text + remarks(circumstances) + [machine, verdict]).joined(separator: "\n")
  }

  /// The missing measurements and further remarks.
  private func remarks(_ circumstances: Circumstances) -> [String] {
    let missing = groups.flatMap { group in
      let outcome: [String] =
        switch group.outcome {
        case .measured, .notAskedFor: []
        case .leftOut(let reason): ["Not measured: \(group.name). \(reason)"]
        case .failed(let reason): ["FAILED: \(group.name). \(reason)"]
        }
      return outcome + group.missing.map { "Not measured in \(group.name): \($0.what). \($0.reason)" }
    }
    let busy =
      "The machine is busy: ratios in CPU time hold; latencies, requests and single commits per second do not."
    return missing + notes + (circumstances.isBusy ? [busy] : [])
  }

  /// The summary of goals, as far as they are known.
  private var verdict: String {
    if isQuick { return "A quick run is not judged: its figures have no goals." }
    let unknown = groups.flatMap { group -> [String] in
      switch group.outcome {
      case .measured: group.missing.map(\.what)
      case .notAskedFor: []
      case .leftOut, .failed: [group.name]
      }
    }
    if missedCount == 0, unknown.isEmpty {
      let isWhole = groups.allSatisfy { if case .notAskedFor = $0.outcome { false } else { true } }
      return isWhole ? "Every goal is met." : "Every goal of the groups that were measured is met."
    }
    let measured = missedCount == 0 ? "Every goal that was measured is met." : "Goals missed: \(missedCount)."
    guard !unknown.isEmpty else { return measured }
    return "\(measured) Unknown, since not measured: goals of \(unknown.joined(separator: ", "))."
  }
}

// MARK: For programs

extension Report {
  /// Returns an object with the circumstances, all groups and all rows (`docs/performance.md`).
  package func json(_ circumstances: Circumstances) -> [UInt8] {
    let report: JSONObject = [
      "commit": .string(circumstances.commit),
      "flags": .string(circumstances.flags),
      "cpu": .string(circumstances.cpu),
      "processors": .integer(Int64(circumstances.processors)),
      "load": .object([
        "before": .number(circumstances.load.before), "after": .number(circumstances.load.after),
      ]),
      "quick": .bool(isQuick),
      "missed": .integer(Int64(missedCount)),
      "notes": .array(notes.map { .string($0) }),
      "groups": .array(groups.map(Self.json)),
      "rows": .array(groups.flatMap { group in group.rows.map { Self.json($0, of: group.name) } }),
    ]
    return report.bytes(.pretty) + Array("\n".utf8)
  }

  private static func json(_ group: Group) -> JSONValue {
    let (outcome, reason): (String, JSONValue) =
      switch group.outcome {
      case .measured: ("measured", .null)
      case .notAskedFor: ("not asked for", "--only names others")
      case .leftOut(let reason): ("left out", .string(reason))
      case .failed(let reason): ("failed", .string(reason))
      }
    return .object([
      "name": .string(group.name), "outcome": .string(outcome), "reason": reason,
      "leftOut": .array(
        group.missing.map { .object(["what": .string($0.what), "reason": .string($0.reason)]) }),
    ])
  }

  private static func json(_ row: ReportRow, of group: String) -> JSONValue {
    .object([
      "name": .string(row.name),
      "group": .string(group),
      "value": .number(row.value),
      "unit": .string(row.unit),
      "limit_or_peer": .string(row.comparedWith),
      "ratio": row.ratio.map { .number($0) } ?? .null,
      "goal": row.goal.map { .number($0.number) } ?? .null,
      "goal_is": row.goal.map { .string($0.comparison) } ?? .null,
      "missed": .bool(row.isMissed),
      "notes": .string(row.notes),
    ])
  }
}
