/// A JSON object put together as text, for what is written once for each request: entries of the audit log and the log.
///
/// The text is the one that `JSONObject` prints for the same members.
package struct JSONLine {
  /// UTF-8; a `String` would look at its own shape with each piece that is added.
  private var line = [UInt8(ascii: "{")]

  /// An empty object.
  package init() { line.reserveCapacity(320) }

  /// Adds a member; its name has letters only, and is new.
  package mutating func add(_ name: String, _ value: String) {
    begin(name)
    var value = value
    let isPlain = value.withUTF8 { text in
      guard unsafe Self.isPlain(text) else { return false }
      line.append(UInt8(ascii: "\""))
      unsafe line.append(contentsOf: text)
      line.append(UInt8(ascii: "\""))
      return true
    }
    if !isPlain { line += JSONValue.string(value).text.utf8 }
  }

  /// Adds a number.
  package mutating func add(_ name: String, _ value: Int64) {
    begin(name)
    line += String(value).utf8
  }

  private mutating func begin(_ name: String) {
    if line.count > 1 { line.append(UInt8(ascii: ",")) }
    line.append(UInt8(ascii: "\""))
    line += name.utf8
    line.append(UInt8(ascii: "\""))
    line.append(UInt8(ascii: ":"))
  }

  /// The object.
  package var text: String { String(decoding: line + [UInt8(ascii: "}")], as: UTF8.self) }

  /// Whether every byte stands for itself in a string; all are looked at, since a loop that may end early takes them one by one.
  private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var others: UInt8 = 0
    for index in text.indices {
      let byte = unsafe text[index]
      others |= 0x20...0x7E ~= byte ? 0 : 1
      others |= byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 1 : 0
    }
    return others == 0
  }
}
