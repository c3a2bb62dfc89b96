import SignetJSON
import Testing

@Suite struct JSONParsingTests {
  @Test(
    "every kind of value is read",
    arguments: [
      ("null", JSONValue.null), ("true", true), ("false", false), (" [ ] ", []), ("\t{\r\n}", [:]),
      ("0", 0), ("-0", 0), ("-1", -1), ("9223372036854775807", .integer(.max)),
      ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number(0x1p63)),
      ("-9223372036854775809", .number(-0x1p63)), ("1.0", .number(1)),
      ("1e2", .number(100)),
      ("-1.5E-2", .number(-0.015)), ("0.1", .number(0.1)), (#""""#, ""), (#""aé€😀""#, "aé€😀"),
      (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC\uD83D\uDE00\u0000""#, "é€😀\0"),
      (#"[1,[2,{"a":[]}],"x"]"#, [1, [2, ["a": []]], "x"]),
      (#"{"b":1,"a":{"c":null}}"#, ["b": 1, "a": ["c": nil]]),
    ] as [(String, JSONValue)])
  func reads(_ text: String, _ value: JSONValue) throws {
    #expect(try JSONValue(parsing: text) == value)
  }

  @Test(
    "a syntax error has line and column",
    arguments: [
      ("", "the JSON text is empty"), ("PDF", "line 1, column 1: unexpected character; the text is not JSON"),
      ("[1,\n2", "line 2, column 2: the JSON text ends early"),
      ("[1,\r\n ,]", "line 2, column 2: unexpected character"),
      ("{\"ä\": 1 \"b\": 2}", "line 1, column 9: unexpected character"),
      ("[]\n\n[]", "line 3, column 1: data after"),
      ("{\n\"a\":1,\n\"a\":2}", "line 3, column 1: the member \"a\" is repeated"),
      ("{\"a\\\"b\":1, \"a\\\"b\":2}", "line 1, column 12: the member \"a\\\"b\" is repeated"),
      ("[1, // one", "line 1, column 5: a comment"), ("\u{FEFF}1", "the text begins with a byte order mark"),
      ("\0\0", "line 1, column 1: unexpected character"), ("{\0", "the text is UTF-16"),
    ])
  func places(_ text: String, _ words: String) {
    let bytes = Array(text.utf8)
    do {
      _ = try JSONValue(parsing: bytes)
      Issue.record("it was read")
    } catch { #expect(error.description(in: bytes).hasPrefix(words), "\(error.description(in: bytes))") }
  }

  @Test("other failures have no line")
  func withoutPlace() {
    #expect(JSONFailure.notAnObject.description(in: [0x5B, 0x5D]) == JSONFailure.notAnObject.description)
  }

  @Test(
    "what RFC 8259 forbids is refused, with its offset",
    arguments: [
      ("", JSONFailure.unexpectedEnd(offset: 0)), ("  ", .unexpectedEnd(offset: 2)),
      ("[", .unexpectedEnd(offset: 1)),
      ("{\"a\":1", .unexpectedEnd(offset: 6)), ("\"a", .unexpectedEnd(offset: 2)),
      ("tru", .unexpectedEnd(offset: 3)),
      ("nul1", .unexpectedByte(offset: 3)), ("[1,]", .unexpectedByte(offset: 3)),
      ("{,}", .unexpectedByte(offset: 1)),
      ("{\"a\":1,}", .unexpectedByte(offset: 7)), ("{\"a\" 1}", .unexpectedByte(offset: 5)),
      ("{a:1}", .unexpectedByte(offset: 1)), ("'a'", .unexpectedByte(offset: 0)),
      ("[1 2]", .unexpectedByte(offset: 3)),
      ("[1}", .unexpectedByte(offset: 2)), ("\u{FEFF}1", .unexpectedByte(offset: 0)),
      ("NaN", .unexpectedByte(offset: 0)),
      ("Infinity", .unexpectedByte(offset: 0)), ("+1", .unexpectedByte(offset: 0)),
      (".5", .unexpectedByte(offset: 0)),
      ("-", .invalidNumber(offset: 0)), ("-a", .invalidNumber(offset: 0)),
      ("-Infinity", .invalidNumber(offset: 0)),
      ("01", .invalidNumber(offset: 0)), ("[-00]", .invalidNumber(offset: 1)),
      ("1.", .invalidNumber(offset: 0)),
      ("1e", .invalidNumber(offset: 0)), ("1e+", .invalidNumber(offset: 0)),
      ("1.e1", .invalidNumber(offset: 0)),
      ("0x1", .trailingData(offset: 1)), ("1e999", .numberOutOfRange(offset: 0)),
      ("{} {}", .trailingData(offset: 3)),
      ("1,", .trailingData(offset: 1)), ("nullnull", .trailingData(offset: 4)),
      ("1//", .trailingData(offset: 1)),
      ("\"\u{1}\"", .controlCharacter(offset: 1)), ("\"a\n\"", .controlCharacter(offset: 2)),
      (#""\n\#u{1F}""#, .controlCharacter(offset: 3)), (#""\x""#, .invalidEscape(offset: 1)),
      (#""\u12G4""#, .invalidEscape(offset: 1)), (#""\u12""#, .invalidEscape(offset: 1)),
      (#""\"#, .unexpectedEnd(offset: 2)), (#""a\uD800""#, .loneSurrogate(offset: 2)),
      (#""\uDC00""#, .loneSurrogate(offset: 1)), (#""\uD800\uD800""#, .loneSurrogate(offset: 1)),
      (#""\uD800\n""#, .loneSurrogate(offset: 1)), (#"{"a":1,"a":2}"#, .duplicateMember(offset: 7)),
      (#"{"a":1,"\u0061":2}"#, .duplicateMember(offset: 7)), (#"[{"":1,"":1}]"#, .duplicateMember(offset: 7)),
    ] as [(String, JSONFailure)])
  func refuses(_ text: String, _ failure: JSONFailure) {
    #expect(throws: failure) { try JSONValue(parsing: text) }
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [
      ([0x80], 1), ([0xC3], 1), ([0x61, 0xC0, 0x80], 2), ([0xED, 0xA0, 0x80], 1),
      ([0xF4, 0x90, 0x80, 0x80], 1),
      ([0xE2, 0x82], 1), ([0xFF], 1),
    ] as [([UInt8], Int)])
  func refusesInvalidUTF8(_ content: [UInt8], _ offset: Int) {
    #expect(throws: JSONFailure.invalidUTF8(offset: offset)) {
      try JSONValue(parsing: [0x22] + content + [0x22])
    }
    #expect(throws: JSONFailure.self) { try JSONValue(parsing: content) }
    #expect(throws: JSONFailure.self) { try JSONValue(parsing: [0x22, 0x5C, 0x6E] + content + [0x22]) }
  }

  @Test("names are compared by code point, before and after many members")
  func comparesNamesExactly() throws {
    let object = try JSONObject(parsing: Array(#"{"\u212A":1,"K":2,"e\u0301":3,"\u00e9":4}"#.utf8))
    #expect(object["K"] == 2)
    #expect(object["\u{212A}"] == 1)
    #expect(object["\u{E9}"] == 4)
    #expect(object.members.map(\.value) == [1, 2, 3, 4])
    let many = (0..<40).map { #""n\#($0)":0"# }.joined(separator: ",")
    #expect(try JSONObject(parsing: Array("{\(many)}".utf8)).count == 40)
    for repeated in ["n0", "n15", "n16", "n39"] {
      #expect(throws: JSONFailure.duplicateMember(offset: many.utf8.count + 2)) {
        try JSONValue(parsing: "{\(many),\"\(repeated)\":1}")
      }
    }
  }

  @Test("depth, size and count are bounded")
  func boundsWhatItReads() throws {
    let limits = JSONLimits(maximumDepth: 2, maximumByteCount: 20, maximumMemberCount: 3)
    #expect(try JSONValue(parsing: "[[1],2]", limits: limits) == [[1], 2])
    #expect(throws: JSONFailure.tooDeep(offset: 2)) { try JSONValue(parsing: "[[[1]]]", limits: limits) }
    #expect(throws: JSONFailure.tooManyMembers(offset: 7)) {
      try JSONValue(parsing: "[1,2,3,4]", limits: limits)
    }
    #expect(throws: JSONFailure.tooManyMembers(offset: 15)) {
      try JSONValue(parsing: #"{"a":[1,2],"b":3}"#, limits: limits)
    }
    #expect(throws: JSONFailure.tooLarge(byteCount: 21, limit: 20)) {
      try JSONValue(parsing: String(repeating: " ", count: 20) + "1", limits: limits)
    }
    let deepest = JSONLimits(maximumDepth: .max, maximumByteCount: .max, maximumMemberCount: .max)
    let opened = String(repeating: "[", count: 100_000)
    #expect(throws: JSONFailure.tooDeep(offset: 256)) { try JSONValue(parsing: opened, limits: deepest) }
    let closed = String(repeating: "]", count: 256)
    #expect(try JSONValue(parsing: opened.prefix(256) + closed, limits: deepest).text.count == 512)
  }

  @Test("any prefix and any changed byte of a text is read or refused, never a crash")
  func isTotal() throws {
    let text = Array(#"{"a":[1,-2.5e3,true,null,"\u00e9\uD83D\uDE00\n"],"é":{"b":{}}}"#.utf8)
    _ = try JSONValue(parsing: text)
    for end in text.indices {
      #expect(throws: JSONFailure.self) { try JSONValue(parsing: Array(text[..<end])) }
    }
    for index in text.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = text
        changed[index] = byte
        do {
          let value = try JSONValue(parsing: changed)
          #expect(try JSONValue(parsing: value.bytes) == value)
        } catch {
          #expect(!error.description.isEmpty)
        }
      }
    }
  }
}
