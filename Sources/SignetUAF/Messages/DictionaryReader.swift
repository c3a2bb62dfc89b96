import SignetCrypto
import SignetJSON

/// A typed reader of a protocol dictionary; every error names the member with its path.
///
/// A member that is `null` has the wrong type: the protocol has no null.
struct DictionaryReader {
  let object: JSONObject
  /// The path of the dictionary, such as `header.upv`; empty for the outermost one.
  let path: String

  init(_ object: JSONObject, _ path: String = "") { (self.object, self.path) = (object, path) }

  init(_ value: JSONValue, _ path: String) throws(MessageFailure) {
    guard case .object(let object) = value else { throw .member(path, .type(.object)) }
    self.init(object, path)
  }

  /// Parses the body of an HTTP message of at most 1 MiB.
  init(body text: [UInt8]) throws(MessageFailure) {
    do throws(JSONFailure) {
      self.init(try JSONObject(parsing: text, limits: JSONLimits(maximumByteCount: 1 << 20)))
    } catch {
      throw .json(error)
    }
  }

  func name(_ member: String) -> String { path.isEmpty ? member : "\(path).\(member)" }

  func failure(_ member: String, _ problem: MessageFailure.Problem) -> MessageFailure {
    .member(name(member), problem)
  }

  func required<Value>(_ member: String, _ value: Value?) throws(MessageFailure) -> Value {
    guard let value else { throw failure(member, .missing) }
    return value
  }

  /// Returns the dictionary without those of these members that are `null`.
  func withoutNull(_ members: [String]) -> DictionaryReader {
    guard members.contains(where: { object[$0] == .null }) else { return self }
    var stripped = object
    for member in members where stripped[member] == .null { stripped[member] = nil }
    return DictionaryReader(stripped, path)
  }

  // MARK: Strings

  /// Returns a string and checks its length in Unicode scalars, as `string[n]` requires.
  func optionalString(
    _ member: String, _ counts: ClosedRange<Int> = 1...4096
  ) throws(MessageFailure) -> String? {
    guard let value = object[member] else { return nil }
    guard case .string(let text) = value else { throw failure(member, .type(.string)) }
    let bytes = text.utf8.count
    if bytes < counts.lowerBound { throw failure(member, bytes == 0 ? .empty : .tooShort(counts.lowerBound)) }
    if bytes > counts.upperBound, text.unicodeScalars.count > counts.upperBound {
      throw failure(member, .tooLong(counts.upperBound))
    }
    return text
  }

  func string(_ member: String, _ counts: ClosedRange<Int> = 1...4096) throws(MessageFailure) -> String {
    try required(member, optionalString(member, counts))
  }

  /// Decodes a base64url string, with or without padding.
  func bytes(
    _ member: String, _ counts: ClosedRange<Int>
  ) throws(MessageFailure) -> [UInt8] {
    guard let value = object[member] else { throw failure(member, .missing) }
    guard case .string(let text) = value else { throw failure(member, .type(.string)) }
    return try decode(text, member, counts)
  }

  func decode(
    _ text: String, _ member: String, _ counts: ClosedRange<Int>
  ) throws(MessageFailure) -> [UInt8] {
    guard text.utf8.count <= counts.upperBound / 3 * 4 + 8 else {
      throw failure(member, .tooLong(counts.upperBound))
    }
    guard let bytes = Base64URL.decodePadded(text) else { throw failure(member, .base64URL) }
    if bytes.isEmpty, counts.lowerBound > 0 { throw failure(member, .empty) }
    if bytes.count < counts.lowerBound { throw failure(member, .tooShort(counts.lowerBound)) }
    if bytes.count > counts.upperBound { throw failure(member, .tooLong(counts.upperBound)) }
    return bytes
  }

  // MARK: Numbers and Booleans

  func optionalNumber<Number: FixedWidthInteger>(
    _ member: String, as type: Number.Type = Number.self
  ) throws(MessageFailure) -> Number? {
    guard let value = object[member] else { return nil }
    guard case .integer(let integer) = value else { throw failure(member, .type(.integer)) }
    guard let number = Number(exactly: integer) else { throw failure(member, .range) }
    return number
  }

  func number<Number: FixedWidthInteger>(
    _ member: String, as type: Number.Type = Number.self
  ) throws(MessageFailure) -> Number {
    try required(member, optionalNumber(member, as: type))
  }

  func optionalBool(_ member: String) throws(MessageFailure) -> Bool? {
    guard let value = object[member] else { return nil }
    guard case .bool(let flag) = value else { throw failure(member, .type(.bool)) }
    return flag
  }

  func bool(_ member: String) throws(MessageFailure) -> Bool { try required(member, optionalBool(member)) }

  // MARK: Dictionaries and lists

  func optionalDictionary(_ member: String) throws(MessageFailure) -> DictionaryReader? {
    guard let value = object[member] else { return nil }
    return try DictionaryReader(value, name(member))
  }

  func dictionary(_ member: String) throws(MessageFailure) -> DictionaryReader {
    try required(member, optionalDictionary(member))
  }

  /// Returns the elements of an array with `minimum` to `maximum` elements.
  func optionalList<Element>(
    _ member: String, minimum: Int = 1, maximum: Int = 1024,
    _ parse: (JSONValue, String) throws(MessageFailure) -> Element
  ) throws(MessageFailure) -> [Element]? {
    guard let value = object[member] else { return nil }
    return try Self.list(value, name(member), minimum: minimum, maximum: maximum, parse)
  }

  func list<Element>(
    _ member: String, minimum: Int = 1, maximum: Int = 1024,
    _ parse: (JSONValue, String) throws(MessageFailure) -> Element
  ) throws(MessageFailure) -> [Element] {
    try required(member, optionalList(member, minimum: minimum, maximum: maximum, parse))
  }

  static func list<Element>(
    _ value: JSONValue, _ path: String, minimum: Int, maximum: Int = 1024,
    _ parse: (JSONValue, String) throws(MessageFailure) -> Element
  ) throws(MessageFailure) -> [Element] {
    guard case .array(let values) = value else { throw .member(path, .type(.array)) }
    guard values.count >= minimum else { throw .member(path, .empty) }
    guard values.count <= maximum else { throw .member(path, .tooLong(maximum)) }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for (index, value) in values.enumerated() {
      do throws(MessageFailure) { elements.append(try parse(value, path)) } catch {
        throw error.inElement(index, of: path)
      }
    }
    return elements
  }

  static func text(_ value: JSONValue, _ path: String) throws(MessageFailure) -> String {
    guard case .string(let text) = value else { throw .member(path, .type(.string)) }
    guard !text.isEmpty else { throw .member(path, .empty) }
    return text
  }

  static func number<Number: FixedWidthInteger>(
    _ value: JSONValue, _ path: String, as type: Number.Type = Number.self
  ) throws(MessageFailure) -> Number {
    guard case .integer(let integer) = value else { throw .member(path, .type(.integer)) }
    guard let number = Number(exactly: integer) else { throw .member(path, .range) }
    return number
  }

  static func aaid(_ value: JSONValue, _ path: String) throws(MessageFailure) -> AAID {
    guard let aaid = AAID(try text(value, path)) else { throw .member(path, .form) }
    return aaid
  }

  static func keyID(_ value: JSONValue, _ path: String) throws(MessageFailure) -> KeyID {
    guard let bytes = Base64URL.decodePadded(try text(value, path)) else { throw .member(path, .base64URL) }
    guard let keyID = KeyID(bytes) else { throw .member(path, .range) }
    return keyID
  }

  /// Returns the member `op`, which is optional.
  func operation() throws(MessageFailure) -> UAFOperation? {
    guard let name = try optionalString("op", 1...32) else { return nil }
    guard let operation = UAFOperation(rawValue: name) else { throw .operation(name) }
    return operation
  }

  /// Returns the extensions of a dictionary, which are optional.
  func extensions(_ member: String = "exts") throws(MessageFailure) -> [UAFExtension] {
    // An empty list and null both mean no extensions; some serializers write them instead of omitting the member.
    try withoutNull([member]).optionalList(member, minimum: 0, maximum: 64) {
      value, path throws(MessageFailure) in
      try UAFExtension(DictionaryReader(value, path))
    } ?? []
  }
}

extension MessageFailure {
  /// Adds the index of a list element to the path: `accepted.aaid` becomes `accepted[3].aaid`.
  ///
  /// The path is built only for an error, so that valid elements cost nothing.
  fileprivate func inElement(_ index: Int, of list: String) -> MessageFailure {
    guard case .member(let path, let problem) = self, path.hasPrefix(list) else { return self }
    return .member("\(list)[\(index)]\(path.dropFirst(list.count))", problem)
  }
}

extension JSONObject {
  /// Sets a member unless it is `nil`.
  mutating func setOptional(_ name: String, _ value: JSONValue?) {
    if let value { set(name, value) }
  }
}

extension JSONValue {
  static func dictionaries(_ elements: some Sequence<JSONObject>) -> JSONValue {
    .array(elements.map { .object($0) })
  }

  static func strings(_ elements: some Sequence<String>) -> JSONValue {
    .array(elements.map { .string($0) })
  }

  static func numbers(_ elements: some Sequence<some FixedWidthInteger>) -> JSONValue {
    .array(elements.map { .integer(Int64(clamping: $0)) })
  }

  /// Creates a number of at most 63 bits.
  static func number(_ value: some FixedWidthInteger) -> JSONValue { .integer(Int64(clamping: value)) }
}
