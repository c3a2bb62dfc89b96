import SignetSystem

/// The size limits for a JSON text.
public struct JSONLimits: Sendable, Hashable {
  /// The deepest nesting of arrays and objects, 1 to 256; `[[1]]` has depth 2.
  public let maximumDepth: Int
  /// The longest text, in bytes.
  public let maximumByteCount: Int
  /// The maximum number of object members and array elements, counted over the whole text.
  public let maximumMemberCount: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - maximumDepth: Deepest nesting; values above 256 count as 256, so that parsing never exhausts the stack.
  ///   - maximumByteCount: Longest text, in bytes.
  ///   - maximumMemberCount: Maximum number of members and elements in total.
  public init(maximumDepth: Int = 16, maximumByteCount: Int = 65_536, maximumMemberCount: Int = 8_192) {
    self.maximumDepth = min(maximumDepth, 256)
    self.maximumByteCount = maximumByteCount
    self.maximumMemberCount = maximumMemberCount
  }

  /// Depth 16, 64 KiB, 8192 members: more than the messages between device and server need.
  public static let standard = JSONLimits()
}

/// A one-pass parser over the bytes of a JSON text.
///
/// The depth limit bounds the recursion. The text is passed as a `Span`, so that nothing is copied before it is validated.
struct JSONParser {
  var offset = 0
  private var depth = 0
  private var memberBudget: Int
  private let maximumDepth: Int

  /// Above this number of members, names are looked up in a set: many members must not cost quadratic time.
  private static let linearSearchLimit = 16

  private init(_ limits: JSONLimits) {
    memberBudget = limits.maximumMemberCount
    maximumDepth = limits.maximumDepth
  }

  static func parse(_ input: Span<UInt8>, _ limits: JSONLimits) throws(JSONFailure) -> JSONValue {
    guard input.count <= limits.maximumByteCount else {
      throw .tooLarge(byteCount: input.count, limit: limits.maximumByteCount)
    }
    var parser = JSONParser(limits)
    parser.skipSpace(input)
    let value = try parser.value(input)
    parser.skipSpace(input)
    guard parser.offset == input.count else { throw .trailingData(offset: parser.offset) }
    return value
  }

  private mutating func value(_ input: Span<UInt8>) throws(JSONFailure) -> JSONValue {
    switch try peek(input) {
    case UInt8(ascii: "\""): return .string(try string(input))
    case UInt8(ascii: "{"): return .object(try object(input))
    case UInt8(ascii: "["): return .array(try array(input))
    case UInt8(ascii: "t"): return try literal("true", .bool(true), input)
    case UInt8(ascii: "f"): return try literal("false", .bool(false), input)
    case UInt8(ascii: "n"): return try literal("null", .null, input)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(input)
    default: throw .unexpectedByte(offset: offset)
    }
  }

  private mutating func object(_ input: Span<UInt8>) throws(JSONFailure) -> JSONObject {
    var members: [(name: String, value: JSONValue)] = []
    var names: Set<[UInt8]> = []
    try enter()
    skipSpace(input)
    if try peek(input) == UInt8(ascii: "}") {
      leave()
      return JSONObject(uncheckedMembers: members)
    }
    members.reserveCapacity(4)
    while true {
      let nameOffset = offset
      guard try peek(input) == UInt8(ascii: "\"") else { throw .unexpectedByte(offset: offset) }
      let name = try string(input)
      if Self.isRepeated(name, members, &names) { throw .duplicateMember(offset: nameOffset) }
      skipSpace(input)
      guard try peek(input) == UInt8(ascii: ":") else { throw .unexpectedByte(offset: offset) }
      offset += 1
      skipSpace(input)
      try spendMember()
      members.append((name, try value(input)))
      guard try separator(input, closing: UInt8(ascii: "}")) else { break }
    }
    leave()
    return JSONObject(uncheckedMembers: members)
  }

  private mutating func array(_ input: Span<UInt8>) throws(JSONFailure) -> [JSONValue] {
    var elements: [JSONValue] = []
    try enter()
    skipSpace(input)
    if try peek(input) == UInt8(ascii: "]") {
      leave()
      return elements
    }
    while true {
      try spendMember()
      elements.append(try value(input))
      guard try separator(input, closing: UInt8(ascii: "]")) else { break }
    }
    leave()
    return elements
  }

  /// Skips a comma, or stops before the closing bracket, which `leave` skips.
  private mutating func separator(_ input: Span<UInt8>, closing: UInt8) throws(JSONFailure) -> Bool {
    skipSpace(input)
    let byte = try peek(input)
    if byte == closing { return false }
    guard byte == UInt8(ascii: ",") else { throw .unexpectedByte(offset: offset) }
    offset += 1
    skipSpace(input)
    return true
  }

  private static func isRepeated(
    _ name: String, _ members: [(name: String, value: JSONValue)], _ names: inout Set<[UInt8]>
  ) -> Bool {
    if members.count < linearSearchLimit {
      for member in members where member.name.hasSameBytes(as: name) { return true }
      return false
    }
    if names.isEmpty { for member in members { names.insert(Array(member.name.utf8)) } }
    return !names.insert(Array(name.utf8)).inserted
  }

  private mutating func literal(
    _ text: StaticString, _ value: JSONValue, _ input: Span<UInt8>
  ) throws(JSONFailure) -> JSONValue {
    for byte in text.description.utf8 {
      guard try peek(input) == byte else { throw .unexpectedByte(offset: offset) }
      offset += 1
    }
    return value
  }

  private mutating func enter() throws(JSONFailure) {
    depth += 1
    guard depth <= maximumDepth else { throw .tooDeep(offset: offset) }
    offset += 1
  }

  private mutating func leave() {
    depth -= 1
    offset += 1
  }

  private mutating func spendMember() throws(JSONFailure) {
    memberBudget -= 1
    guard memberBudget >= 0 else { throw .tooManyMembers(offset: offset) }
  }

  @inline(__always)
  func peek(_ input: Span<UInt8>) throws(JSONFailure) -> UInt8 {
    guard offset < input.count else { throw .unexpectedEnd(offset: offset) }
    return input[offset]
  }

  @inline(__always)
  private mutating func skipSpace(_ input: Span<UInt8>) {
    while offset < input.count {
      switch input[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }
}
