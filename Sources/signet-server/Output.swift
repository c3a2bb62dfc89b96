import SignetJSON
import SignetTerminal

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Terminal {
  /// Prints a JSON document for programs, indented so that people can read it too.
  func print(_ object: JSONObject) { print(json: object.text(.pretty)) }

  /// Prints names of ours and values of anybody in two columns.
  ///
  /// - Parameters:
  ///   - fields: Names and values.
  ///   - copied: The names of those whose values were made to be copied, by this program or its server: they are not broken.
  func print(fields: [(String, String)], copying copied: Set<String> = []) {
    let width = fields.map { TerminalText.width($0.0) }.max() ?? 0
    for (name, value) in fields {
      let padding = String(repeating: " ", count: width - TerminalText.width(name) + 2)
      let shown = copied.contains(name) ? TerminalText(copied: value) : TerminalText(value)
      print("\(styled("\(ours: name)", .bold))\(ours: padding)\(shown)")
    }
  }
}

/// A time as people read it: `2026-11-21T09:30:00Z`.
func utc(_ seconds: Int64) -> String {
  Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
}

/// The objects of an array in an answer.
func objects(_ name: String, in answer: JSONObject) throws -> [JSONObject] {
  try answer.array(name).map {
    guard case .object(let object) = $0 else {
      throw CommandFailure(
        .protocolError, "the answer is not of this version of the protocol: \"\(ours: name)\"")
    }
    return object
  }
}
