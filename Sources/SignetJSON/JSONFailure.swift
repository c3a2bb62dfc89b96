/// Why a JSON text was not accepted.
///
/// Offsets count bytes from the start of the text.
@nonexhaustive public enum JSONFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is longer than allowed.
  case tooLarge(byteCount: Int, limit: Int)
  /// Arrays and objects are nested deeper than allowed.
  case tooDeep(offset: Int)
  /// There are more members and elements than allowed.
  case tooManyMembers(offset: Int)
  /// The text ended in the middle of a value.
  case unexpectedEnd(offset: Int)
  /// A byte stands where the grammar does not allow it.
  case unexpectedByte(offset: Int)
  /// Something follows the end of the value.
  case trailingData(offset: Int)
  /// An object has two members with the same name.
  case duplicateMember(offset: Int)
  /// A string is not UTF-8.
  case invalidUTF8(offset: Int)
  /// A `\u` escape is half of a surrogate pair.
  case loneSurrogate(offset: Int)
  /// A backslash is followed by something that is not an escape.
  case invalidEscape(offset: Int)
  /// A string holds an unescaped control character.
  case controlCharacter(offset: Int)
  /// A number is not written as JSON writes numbers.
  case invalidNumber(offset: Int)
  /// A number is too large for a double.
  case numberOutOfRange(offset: Int)
  /// The text is a JSON value, but not an object.
  case notAnObject
  /// An object lacks a member that is required.
  case missingMember(String)
  /// A member has another type than the reader asked for.
  case wrongType(member: String, expected: ExpectedType)
  /// A member is a string, but not strict base64url without padding.
  case notBase64URL(member: String)

  /// What a reader asked for.
  public enum ExpectedType: String, Hashable, Sendable {
    /// `true` or `false`.
    case bool = "true or false"
    /// A whole number that fits 64 bits.
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

  /// What is wrong and where; never the content of the text.
  public var description: String {
    switch self {
    case .tooLarge(let count, let limit): "the JSON text has \(count) bytes; send at most \(limit)"
    case .tooDeep(let offset): "nested too deep at byte \(offset); flatten the JSON text"
    case .tooManyMembers(let offset): "too many members at byte \(offset); split the JSON text"
    case .unexpectedEnd(let offset): "the JSON text ends early at byte \(offset); send all of it"
    case .unexpectedByte(let offset): "unexpected byte at \(offset); write JSON as RFC 8259 says"
    case .trailingData(let offset): "data after the JSON value at byte \(offset); send one value"
    case .duplicateMember(let offset): "a member is repeated at byte \(offset); give each name once"
    case .invalidUTF8(let offset): "the text is not UTF-8 at byte \(offset); encode it as UTF-8"
    case .loneSurrogate(let offset): "half a surrogate pair at byte \(offset); write both halves"
    case .invalidEscape(let offset): "unknown escape at byte \(offset); see RFC 8259 section 7"
    case .controlCharacter(let offset): "control character at byte \(offset); escape it"
    case .invalidNumber(let offset): "malformed number at byte \(offset); see RFC 8259 section 6"
    case .numberOutOfRange(let offset): "the number at byte \(offset) is too large; use a smaller one"
    case .notAnObject: "the JSON text is not an object; send an object"
    case .missingMember(let name): "the member \"\(name)\" is missing; add it"
    case .wrongType(let name, let expected): "the member \"\(name)\" must be \(expected.rawValue)"
    case .notBase64URL(let name): "the member \"\(name)\" must be base64url without padding"
    }
  }
}
