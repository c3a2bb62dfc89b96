/// The header fields of a request as received: one copy of their bytes, and the range of each field.
///
/// A request has about six fields, of which a handler reads two or three; only these become strings.
struct ReceivedFields: Sendable {
  /// The ranges of a field in the bytes; names are tokens, and values are UTF-8 without control bytes.
  struct Position: Sendable {
    let name: Range<Int>
    let value: Range<Int>
  }

  let bytes: [UInt8]
  let positions: [Position]

  var fields: [HeaderFields.Field] {
    positions.map { HeaderFields.Field(name: text($0.name), value: text($0.value)) }
  }

  /// Returns the first value of that name, or `nil`.
  func first(_ name: String) -> String? {
    positions.first { has($0, name) }.map { text($0.value) }
  }

  func count(of name: String) -> Int { positions.count { has($0, name) } }

  private func has(_ position: Position, _ name: String) -> Bool {
    guard position.name.count == name.utf8.count else { return false }
    var index = position.name.lowerBound
    for byte in name.utf8 {
      guard HeaderFields.lowercased(byte) == HeaderFields.lowercased(bytes[index]) else { return false }
      index += 1
    }
    return true
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}
