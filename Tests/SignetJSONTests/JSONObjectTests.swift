import SignetJSON
import Testing

@Suite struct JSONObjectTests {
  private let object: JSONObject = [
    "s": "x", "i": 1, "n": 1.5, "b": true, "o": ["k": 1], "a": [1], "t": ["x", "y"], "null": nil,
  ]

  @Test("members are set in place, appended and removed")
  func edits() {
    var edited = JSONObject()
    edited.set("a", 1)
    edited["b"] = 2
    edited["a"] = 3
    #expect(edited.text == #"{"a":3,"b":2}"#)
    edited["a"] = nil
    edited["zz"] = nil
    #expect(edited.text == #"{"b":2}"#)
    #expect(edited.contains("b") && !edited.contains("a") && !edited.isEmpty)
  }

  @Test("equality ignores order, not content")
  func equality() {
    let one: JSONObject = ["a": 1, "b": ["c": 2, "d": 3]]
    let two: JSONObject = ["b": ["d": 3, "c": 2], "a": 1]
    #expect(one == two)
    #expect(one.hashValue == two.hashValue)
    #expect(one != ["a": 1, "b": ["c": 2, "d": 4]])
    #expect(one != ["a": 1])
    #expect(JSONValue.integer(1) != .number(1))
    #expect(JSONValue.string("\u{212A}") != "K")
    #expect(Set<JSONValue>([.null, true, 1, 1.5, "1", [1], ["a": 1]]).count == 7)
  }

  @Test("readers return the member")
  func reads() throws {
    #expect(try object.string("s") == "x")
    #expect(try object.integer("i") == 1)
    #expect(try object.number("n") == 1.5)
    #expect(try object.number("i") == 1)
    #expect(try object.bool("b"))
    #expect(try object.object("o") == ["k": 1])
    #expect(try object.array("a") == [1])
    #expect(try object.strings("t") == ["x", "y"])
    #expect(try object.value("null") == .null)
    #expect(try object.optionalString("zz") == nil)
    #expect(try object.optionalStrings("zz") == nil)
  }

  @Test("readers name the member that is missing or of another type")
  func refuses() {
    #expect(throws: JSONFailure.missingMember("zz")) { try object.string("zz") }
    #expect(throws: JSONFailure.missingMember("zz")) { try object.number("zz") }
    #expect(throws: JSONFailure.wrongType(member: "i", expected: .string)) { try object.string("i") }
    #expect(throws: JSONFailure.wrongType(member: "null", expected: .string)) {
      try object.optionalString("null")
    }
    #expect(throws: JSONFailure.wrongType(member: "n", expected: .integer)) { try object.integer("n") }
    #expect(throws: JSONFailure.wrongType(member: "s", expected: .number)) { try object.number("s") }
    #expect(throws: JSONFailure.wrongType(member: "i", expected: .bool)) { try object.bool("i") }
    #expect(throws: JSONFailure.wrongType(member: "a", expected: .object)) { try object.object("a") }
    #expect(throws: JSONFailure.wrongType(member: "o", expected: .array)) { try object.array("o") }
    #expect(throws: JSONFailure.wrongType(member: "a", expected: .strings)) { try object.strings("a") }
    #expect(throws: JSONFailure.notAnObject) { try JSONObject(parsing: Array("[]".utf8)) }
  }
}
