import SignetSystem

/// A record of a CSV text (RFC 4180).
struct CSVRecord {
  /// The line on which the record begins, as an editor counts; the first one is 1.
  let line: Int
  /// The fields: without surrounding white space, or as quoted.
  let fields: [String]

  /// Parses all records of a text; empty lines are left out.
  static func records(in text: String) throws(TokenListFailure) -> [CSVRecord] {
    var records: [CSVRecord] = []
    var rest = text[...]
    var line = 1
    while !rest.isEmpty {
      let first = line
      var fields: [String] = []
      repeat { fields.append(try field(&rest, &line)) } while rest.popFirst() == ","
      line += 1
      if fields != [""] { records.append(CSVRecord(line: first, fields: fields)) }
    }
    return records
  }

  /// Removes a field; the text then begins with the comma or the line break that ends it.
  private static func field(_ rest: inout Substring, _ line: inout Int) throws(TokenListFailure) -> String {
    let plain = rest.prefix { $0 != "," && !$0.isNewline }
    guard let quote = plain.firstIndex(of: "\"") else {
      rest = rest[plain.endIndex...]
      return plain.trimmed
    }
    guard plain[..<quote].trimmed.isEmpty else {
      throw .line(line, reason: "a quotation mark is inside a field that does not begin with one")
    }
    var field = ""
    let first = line
    rest = rest[quote...]
    repeat {
      let part = rest.dropFirst().prefix { $0 != "\"" }
      line += part.count(where: \.isNewline)
      rest = rest[part.endIndex...]
      guard rest.popFirst() != nil else { throw .line(first, reason: "a quoted field does not end") }
      field += part
      if rest.first == "\"" { field += "\"" }
    } while rest.first == "\""
    let blanks = rest.prefix { $0 != "," && !$0.isNewline }
    guard blanks.trimmed.isEmpty else { throw .line(line, reason: "text follows a quoted field") }
    rest = rest[blanks.endIndex...]
    return field
  }
}
