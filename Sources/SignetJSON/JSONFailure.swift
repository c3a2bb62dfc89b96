/// The reason why a JSON text was rejected.
///
/// Offsets count bytes from the start of the text.
@nonexhaustive public enum JSONFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is longer than the limit.
  case tooLarge(byteCount: Int, limit: Int)
  /// Arrays and objects are nested deeper than the limit.
  case tooDeep(offset: Int)
  /// There are more members and elements than the limit.
  case tooManyMembers(offset: Int)
  /// The text ended in the middle of a value.
  case unexpectedEnd(offset: Int)
  /// The grammar does not allow this byte here.
  case unexpectedByte(offset: Int)
  /// There is data after the end of the value.
  case trailingData(offset: Int)
  /// An object has two members with the same name.
  case duplicateMember(offset: Int)
  /// A string is not UTF-8.
  case invalidUTF8(offset: Int)
  /// A `\u` escape is half of a surrogate pair.
  case loneSurrogate(offset: Int)
  /// A backslash is not followed by a valid escape.
  case invalidEscape(offset: Int)
  /// A string contains an unescaped control character.
  case controlCharacter(offset: Int)
  /// A number does not follow the JSON grammar.
  case invalidNumber(offset: Int)
  /// A number is too large for a double.
  case numberOutOfRange(offset: Int)
  /// The text is a JSON value, but not an object.
  case notAnObject
  /// An object lacks a required member.
  case missingMember(String)
  /// A member has another type than requested.
  case wrongType(member: String, expected: ExpectedType)
  /// A member is a string, but not strict base64url without padding.
  case notBase64URL(member: String)

  /// The requested type.
  public enum ExpectedType: String, Hashable, Sendable {
    /// `true` or `false`.
    case bool = "true or false"
    /// An integer that fits 64 bits.
    case integer = "a whole number"
    /// Any number.
    case number = "a number"
    /// A string.
    case string = "a string"
    /// An array.
    case array = "an array"
    /// An array of strings only.
    case strings = "an array of strings"
    /// An object.
    case object = "an object"
  }

  /// The error and its position; never the content of the text.
  public var description: String {
    let (fault, offset, remedy) = parts
    return fault + (offset.map { " at byte \($0)" } ?? "") + (remedy.map { "; \($0)" } ?? "")
  }

  /// Returns the description for a user who edits the text: a syntax error has its line and column, counted from 1.
  ///
  /// It identifies a text in another encoding, a comment and a repeated name as such.
  ///
  /// - Parameter text: The parsed text.
  /// - Returns: One line.
  package func description(in text: [UInt8]) -> String {
    let (fault, offset, remedy) = parts
    guard let offset, let remedy else { return description }
    if let encoding = Self.encodingFault(of: text) { return encoding }
    let lines = text.prefix(offset).split(separator: 0x0A, omittingEmptySubsequences: false)
    // UTF-8 continuation bytes are not counted as columns.
    let column = (lines.last ?? []).count { $0 & 0xC0 != 0x80 } + 1
    let position = "line \(lines.count), column \(column): "
    switch self {
    case .unexpectedByte, .trailingData:
      let rest = text.dropFirst(offset)
      let isComment = rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8)
      return position + (isComment ? "a comment, which JSON does not have; remove it" : "\(fault); \(remedy)")
    case .duplicateMember:
      return position + "the member \"\(Self.name(at: offset, in: text))\" is repeated; \(remedy)"
    default: return "\(position)\(fault); \(remedy)"
    }
  }

  /// The encoding error of a text that is not JSON; `nil` if the text may be UTF-8.
  private static func encodingFault(of text: [UInt8]) -> String? {
    let start = Array(text.prefix(3))
    if start == [0xEF, 0xBB, 0xBF] {
      return "the text begins with a byte order mark; save it as UTF-8 without one"
    }
    // With or without a byte order mark: the first character of JSON is ASCII.
    let isUTF16 =
      start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE])
      || start.prefix(2).count { $0 == 0 } == 1
    return isUTF16 ? "the text is UTF-16; save it as UTF-8" : nil
  }

  /// The raw name whose opening quote is at an offset.
  private static func name(at offset: Int, in text: [UInt8]) -> String {
    var end = offset + 1
    while end < text.count, text[end] != UInt8(ascii: "\"") { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
    let name = String(decoding: text[min(offset + 1, text.count)..<min(end, text.count)], as: UTF8.self)
    return String(name.unicodeScalars.prefix(40))
  }

  private var parts: (fault: String, offset: Int?, remedy: String?) {
    switch self {
    case .tooLarge(let count, let limit): ("the JSON text has \(count) bytes", nil, "send at most \(limit)")
    case .tooDeep(let offset): ("nested too deep", offset, "flatten the JSON text")
    case .tooManyMembers(let offset): ("too many members", offset, "split the JSON text")
    case .unexpectedEnd(offset: 0): ("the JSON text is empty", nil, "check that it is the right one")
    case .unexpectedEnd(let offset): ("the JSON text ends early", offset, "complete it")
    case .unexpectedByte(offset: 0):
      ("unexpected character", 0, "the text is not JSON; check that it is the right one")
    case .unexpectedByte(let offset):
      (
        "unexpected character", offset,
        "look for a comma, colon, quote or bracket too many or too few before it"
      )
    case .trailingData(let offset): ("data after the JSON value", offset, "remove it")
    case .duplicateMember(let offset): ("a member is repeated", offset, "give each name once")
    case .invalidUTF8(let offset): ("the text is not UTF-8", offset, "encode it as UTF-8")
    case .loneSurrogate(let offset): ("half a surrogate pair", offset, "write both halves")
    case .invalidEscape(let offset): ("unknown escape", offset, "see RFC 8259 section 7")
    case .controlCharacter(let offset): ("control character", offset, "escape it")
    case .invalidNumber(let offset): ("malformed number", offset, "see RFC 8259 section 6")
    case .numberOutOfRange(let offset): ("too large a number", offset, "use a smaller one")
    case .notAnObject: ("the JSON text is not an object", nil, "send an object")
    case .missingMember(let name): ("the member \"\(name)\" is missing", nil, "add it")
    case .wrongType(let name, let expected): ("the member \"\(name)\" must be \(expected.rawValue)", nil, nil)
    case .notBase64URL(let name): ("the member \"\(name)\" must be base64url without padding", nil, nil)
    }
  }
}
