/// A JSON object put together as text, for what is written once for each request: entries of the audit log and the log.
///
/// The text is the one that `JSONObject` prints for the same members.
package struct JSONLine {
  private var line = "{"

  /// An empty object.
  package init() { line.reserveCapacity(240) }

  /// Adds a member; its name has letters only, and is new.
  package mutating func add(_ name: String, _ value: String) {
    begin(name)
    let isPlain = value.utf8.allSatisfy {
      0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    guard isPlain else {
      line += JSONValue.string(value).text
      return
    }
    line += "\""
    line += value
    line += "\""
  }

  /// Adds a number.
  package mutating func add(_ name: String, _ value: Int64) {
    begin(name)
    line += String(value)
  }

  private mutating func begin(_ name: String) {
    line += line.utf8.count == 1 ? "\"" : ",\""
    line += name
    line += "\":"
  }

  /// The object.
  package var text: String { line + "}" }
}
