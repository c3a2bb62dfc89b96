import SignetJSON
import Testing

/// Log lines contain input of unauthenticated clients: each equals the text that `JSONObject` prints.
@Suite struct JSONLineTests {
  private func expectSame(_ value: String) {
    var line = JSONLine()
    line.add("time", 1_700_000_000)
    line.add("path", value)
    line.add("last", "x")
    let object: JSONObject = ["time": 1_700_000_000, "path": .string(value), "last": "x"]
    #expect(Array(line.text.utf8) == Array(object.text.utf8), "\(value.debugDescription)")
  }

  @Test("every character of one byte, and others, alone and among plain ones")
  func characters() throws {
    let others = "\u{80}\u{9B}\u{AD}äß€\u{301}\u{200B}\u{2028}\u{2029}\u{202E}\u{FEFF}\u{FFFD}😀"
    for character in (0...0x7F).map({ Unicode.Scalar(UInt8($0)) }) + Array(others.unicodeScalars) {
      expectSame("\(character)")
      expectSame("a\(character)b")
      expectSame(String(repeating: "plain ", count: 40) + "\(character)")
    }
    expectSame("")
    expectSame("\",\"event\":\"forged\"}\n{\"")
  }

  @Test("numbers, and an object without members")
  func numbers() throws {
    #expect(JSONLine().text == "{}")
    for number in [0, -1, .max, .min] as [Int64] {
      var line = JSONLine()
      line.add("n", number)
      #expect(line.text == (["n": .integer(number)] as JSONObject).text)
    }
  }
}
