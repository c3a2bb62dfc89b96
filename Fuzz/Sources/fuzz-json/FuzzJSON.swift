import LibFuzzer
import SignetJSON

@main struct FuzzJSON {
  static func main() { LibFuzzer.run(check) }

  private static let tight = JSONLimits(maximumDepth: 3, maximumByteCount: 64, maximumMemberCount: 8)
  /// Limits for printed text: a number may need more digits than it was written with.
  private static let roomy = JSONLimits(
    maximumDepth: 256, maximumByteCount: 1 << 24, maximumMemberCount: 1 << 20)

  static func check(_ input: [UInt8]) {
    let value = accepted { () throws(JSONFailure) in try JSONValue(parsing: input) }
    if let text = String(validating: input, as: UTF8.self) {
      let same = accepted { () throws(JSONFailure) in try JSONValue(parsing: text) }
      require(same == value, "bytes and text are read alike")
    } else {
      require(value == nil, "what is not UTF-8 is refused")
    }
    checkLimits(input, value)
    guard let value else { return }
    checkPrinting(value)
    checkReaders(value)
  }

  private static func checkLimits(_ input: [UInt8], _ value: JSONValue?) {
    let limited = accepted { () throws(JSONFailure) in try JSONValue(parsing: input, limits: tight) }
    let fits = value.map { value in
      input.count <= tight.maximumByteCount && depth(value) <= tight.maximumDepth
        && count(value) <= tight.maximumMemberCount
    }
    require(limited == (fits == true ? value : nil), "limits refuse what is beyond them, and nothing else")
  }

  private static func checkPrinting(_ value: JSONValue) {
    for format in [JSONFormat.compact, .sorted, .pretty, .prettySorted] {
      let printed = value.bytes(format)
      let again = made("what is printed is read") { () throws(JSONFailure) in
        try JSONValue(parsing: printed, limits: roomy)
      }
      require(again == value, "printing loses nothing")
      require(again.hashValue == value.hashValue, "equal values have equal hashes")
      require(again.bytes(format) == printed, "printing is deterministic")
    }
  }

  private static func checkReaders(_ value: JSONValue) {
    guard case .object(let object) = value else { return }
    for (name, member) in object.members {
      require(object[name] == member, "a member is found by its name")
      if case .string(let text) = member {
        let read = accepted { () throws(JSONFailure) in try object.string(name) }
        require(read?.utf8.elementsEqual(text.utf8) == true, "a string is read as one")
      }
      _ = accepted { () throws(JSONFailure) in try object.integer(name) }
      _ = accepted { () throws(JSONFailure) in try object.optionalStrings(name) }
    }
  }

  private static func depth(_ value: JSONValue) -> Int {
    switch value {
    case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
    case .object(let object): 1 + (object.members.map { depth($0.value) }.max() ?? 0)
    default: 0
    }
  }

  private static func count(_ value: JSONValue) -> Int {
    switch value {
    case .array(let elements): elements.reduce(elements.count) { $0 + count($1) }
    case .object(let object): object.members.reduce(object.count) { $0 + count($1.value) }
    default: 0
    }
  }
}
