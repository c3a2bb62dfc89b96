import Foundation
import SignetJSON
import SignetTestKit
import Testing

@Suite("The line protocol of signet-check", .timeLimit(.minutes(10)))
struct ProtocolTests {
  @Test("an id is returned unchanged, and a missing one as null")
  func ids() throws {
    let ids: [JSONValue] = [
      1, "a", nil, true, 2.5, [1, ["b": nil]], ["x": "é\u{1F600}"], -9_007_199_254_740_993,
    ]
    let requests = ids.map { ["id": $0, "op": "base32-encode", "bytesHex": "00"] as JSONObject }
    let answers = try CheckTool.answers(to: requests + [["op": "base32-encode", "bytesHex": "00"]])
    #expect(answers.map { $0["id"] } == ids + [nil as JSONValue])
    #expect(answers.allSatisfy { $0.ok == ["text": "AA"] })
  }

  @Test("a thousand answers come in the order of their requests")
  func order() throws {
    let requests = (0..<1000).map { index -> JSONObject in
      index.isMultiple(of: 3)
        ? ["id": .integer(Int64(index)), "op": "nothing"]
        : ["id": .integer(Int64(index)), "op": "hotp", "secretHex": "31", "counter": .integer(Int64(index))]
    }
    let answers = try CheckTool.answers(to: requests)
    #expect(answers.map { $0["id"] } == (0..<1000).map { .integer($0) })
    #expect(answers.enumerated().allSatisfy { ($1.errorCode == "op.unknown") == $0.isMultiple(of: 3) })
  }

  @Test("an answer comes before the next request is sent")
  func streaming() throws {
    var command = try CheckTool.process()
    (command.input, command.output) = (.pipe, .pipe)
    let process = try command.start()
    for index in 0..<5 {
      let half = #"{"id":\#(index),"op":"base32-enc"#
      try process.input.write(contentsOf: Data(half.utf8))
      try process.input.write(contentsOf: Data("ode\",\"bytesHex\":\"00\"}\n".utf8))
      var answer = Data()
      while answer.last != 0x0A {
        let part = process.output.availableData
        guard !part.isEmpty else { break }
        answer += part
      }
      #expect(String(decoding: answer, as: UTF8.self) == "{\"id\":\(index),\"ok\":{\"text\":\"AA\"}}\n")
    }
    try process.input.close()
    #expect(try process.end() == 0)
  }

  @Test(
    "lines that are not requests are refused",
    arguments: [
      ("", "input.malformed"), ("   ", "input.malformed"), ("null", "input.malformed"),
      ("[1]", "input.malformed"),
      ("{", "input.malformed"), ("{}x", "input.malformed"), (#"{"id":1,"id":2}"#, "input.malformed"),
      ("{}", "input.missing"), (#"{"op":1}"#, "input.invalid"), (#"{"op":null}"#, "input.invalid"),
      (#"{"op":"HOTP"}"#, "op.unknown"), (#"{"op":""}"#, "op.unknown"),
      (#"{"op":"policy-lint"}"#, "input.missing"),
      (#"{"op":"hotp"}"#, "input.missing"), (#"{"id":"\ud800"}"#, "input.malformed"),
    ])
  func noRequest(line: String, code: String) throws {
    let answers = try CheckTool.answers(to: [Array(line.utf8)])
    #expect(answers.map(\.errorCode) == [code])
    #expect(answers.first?["id"] == JSONValue.null)
  }

  @Test("bytes that are not UTF-8, NUL and carriage returns")
  func bytes() throws {
    let good = #"{"id":1,"op":"base32-encode","bytesHex":"00"}"#
    let answers = try CheckTool.answers(to: [[0xFF, 0xFE], [0], Array(good.utf8) + [0x0D], Array(good.utf8)])
    #expect(answers.map(\.errorCode) == ["input.malformed", "input.malformed", nil, nil])
  }

  @Test("the longest line is answered, a longer one refused, the next one answered again")
  func lineLength() throws {
    let limit = 1 << 20
    let request = #"{"id":7,"op":"base32-encode","bytesHex":"00"}"#
    let longest = Array(request.utf8) + [UInt8](repeating: 0x20, count: limit - request.utf8.count)
    for surplus in [1, 65_537, 2 << 20] {
      let tooLong = longest + [UInt8](repeating: 0x20, count: surplus)
      let answers = try CheckTool.answers(to: [longest, tooLong, Array(request.utf8), tooLong])
      #expect(answers.map(\.errorCode) == [nil, "input.tooLong", nil, "input.tooLong"])
      #expect(answers.map { $0["id"] } == [7, nil as JSONValue, 7, nil as JSONValue])
    }
  }

  @Test("the last line needs no line feed; no input, no output")
  func end() throws {
    let request = Array(#"{"id":1,"op":"base32-encode","bytesHex":"00"}"#.utf8)
    let line = "{\"id\":1,\"ok\":{\"text\":\"AA\"}}\n"
    #expect(try CheckTool.run(request).output == Array(line.utf8))
    #expect(try CheckTool.run(request + [0x0A]).output == Array(line.utf8))
    let nothing = try CheckTool.run([])
    #expect(nothing.output.isEmpty && nothing.status == 0)
    let skipped = try CheckTool.run([UInt8](repeating: 0x20, count: (1 << 20) + 1))
    #expect(String(decoding: skipped.output, as: UTF8.self).contains("input.tooLong"))
  }

  @Test("nesting is bounded, also in the id")
  func nesting() throws {
    func nested(_ depth: Int) -> [UInt8] {
      let id = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      return Array(#"{"id":\#(id),"op":"base32-encode","bytesHex":"00"}"#.utf8)
    }
    let answers = try CheckTool.answers(to: [nested(63), nested(64), nested(500_000)])
    #expect(answers.map(\.errorCode) == [nil, "input.malformed", "input.malformed"])
  }

  @Test("arguments are refused with a hint")
  func arguments() throws {
    let (output, status) = try CheckTool.run([], ["hotp"])
    #expect(output.isEmpty && status == 2)
    let help = try CheckTool.run([], ["--help"])
    let text = String(decoding: help.output, as: UTF8.self)
    #expect(help.status == 0 && text.contains("\n  ocra\n  password-check\n"), "\(text)")
  }
}
