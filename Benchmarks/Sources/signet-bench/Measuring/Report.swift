import Foundation
import SignetJSON

/// The rows so far, as a table for people and as JSON for programs.
struct Report {
  private(set) var rows: [Measurement] = []
  /// What was left out, and why.
  private(set) var notes: [String] = []

  /// What has goals that nobody knows about, since it was not measured.
  private var unknown: [String] = []

  mutating func add(_ row: Measurement) { rows.append(row) }

  mutating func add(_ new: [Measurement]) { rows += new }

  mutating func note(_ text: String) {
    notes.append(text)
    progress(text)
  }

  /// Notes why something with goals is not in the table.
  mutating func leaveOut(_ what: String, _ reason: String) {
    unknown.append(what)
    note(reason)
  }

  /// Says on standard error what goes on, so that standard output holds the table alone.
  func progress(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }

  /// The table; a row that misses its goal ends in `MISSED`.
  var table: String {
    let header = ["measurement", "value", "unit", "beside", "ratio", "goal", ""]
    let lines =
      [header]
      + rows.map { row in
        [
          row.name, row.value.formatted(), row.unit, row.comparedWith,
          row.ratio.map { $0.formatted(digits: 2) } ?? "",
          row.goalText, row.isMissed ? "MISSED" : "",
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
    return (text + notes + [verdict]).joined(separator: "\n")
  }

  /// Whether the goals are met, as far as that is known.
  private var verdict: String {
    let missed = rows.filter(\.isMissed).count
    if missed == 0, unknown.isEmpty { return "Every goal is met." }
    let measured = missed == 0 ? "Every goal that was measured is met." : "Goals missed: \(missed)."
    guard !unknown.isEmpty else { return measured }
    return "\(measured) Unknown, since not measured: goals of \(unknown.joined(separator: ", "))."
  }

  /// An array with an object for each row.
  var json: [UInt8] {
    let objects = rows.map { row -> JSONValue in
      var object = JSONObject()
      object["name"] = .string(row.name)
      object["value"] = .number(row.value)
      object["unit"] = .string(row.unit)
      object["limit_or_peer"] = .string(row.comparedWith)
      object["ratio"] = row.ratio.map { .number($0) } ?? .null
      object["goal"] = .string(row.goalText)
      return .object(object)
    }
    return JSONValue.array(objects).bytes(.pretty)
  }
}

extension Double {
  /// A decimal number with this many digits after the point.
  func formatted(digits: Int) -> String { String(format: "%.\(digits)f", self) }

  /// A number with about three digits that count.
  func formatted() -> String {
    switch abs(self) {
    case 100...: formatted(digits: 0)
    case 10..<100: formatted(digits: 1)
    default: formatted(digits: 2)
    }
  }
}
