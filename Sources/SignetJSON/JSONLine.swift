/// A fast builder of JSON objects as text, for entries of the audit log and the log, which each request writes.
///
/// The text equals the output of `JSONObject` for the same members.
package struct JSONLine {
  /// UTF-8 bytes; a `String` would inspect its own form at each append.
  private var line = [UInt8(ascii: "{")]

  package init() { line.reserveCapacity(320) }

  /// Adds a member; its name must consist of letters and be new.
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

  package var text: String { String(decoding: line + [UInt8(ascii: "}")], as: UTF8.self) }

  /// Returns true if no byte needs an escape.
  ///
  /// The loop checks all bytes: a loop with an early exit would not be vectorized.
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
