import SignetJSON
import Testing

@Suite(.timeLimit(.minutes(10))) struct JSONWritingTests {
  private let value: JSONValue = [
    "b": [1, 2.5, nil], "a": ["z": true, "é": "\"\\\u{1}\u{1F}\n/é"], "c": [], "d": [:],
  ]

  @Test("compact, sorted and pretty texts are exact")
  func formats() throws {
    #expect(
      value.text == #"{"b":[1,2.5,null],"a":{"z":true,"é":"\"\\\u0001\u001f\n/é"},"c":[],"d":{}}"#)
    #expect(
      value.text(.sorted) == #"{"a":{"z":true,"é":"\"\\\u0001\u001f\n/é"},"b":[1,2.5,null],"c":[],"d":{}}"#)
    #expect(
      (["b": [1, ["x": 2]], "a": [], "c": [:]] as JSONValue).text(.pretty) == """
        {
          "b": [
            1,
            {
              "x": 2
            }
          ],
          "a": [],
          "c": {}
        }
        """)
    #expect((["b": 1, "a": 2] as JSONValue).text(.prettySorted) == "{\n  \"a\": 2,\n  \"b\": 1\n}")
    for format in [JSONFormat.compact, .sorted, .pretty, .prettySorted] {
      #expect(try JSONValue(parsing: value.bytes(format)) == value)
    }
  }

  @Test(
    "numbers keep their type and value",
    arguments: [
      JSONValue.integer(.min), .integer(.max), .number(1), .number(-0.0), .number(1e21), .number(1e-7),
      .number(.greatestFiniteMagnitude), .number(.leastNonzeroMagnitude), .number(0.1),
    ])
  func numbers(_ number: JSONValue) throws {
    #expect(try JSONValue(parsing: number.bytes) == number)
  }

  @Test("infinity cannot be written")
  func refusesInfinity() async {
    await #expect(processExitsWith: .failure) { _ = JSONValue.number(.infinity).bytes }
  }

  @Test("a repeated name in a literal is a programmer's error")
  func refusesRepeatedLiteral() async {
    await #expect(processExitsWith: .failure) { _ = ["a": 1, "a": 2] as JSONObject }
  }
}
