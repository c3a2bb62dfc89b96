import Glibc
import LibFuzzer
import SignetJSON

@main struct FuzzCheck {
  static func main() { LibFuzzer.run(check) }

  static func check(_ input: [UInt8]) {
    let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
    let expected = lines.last?.isEmpty == false ? lines : lines.dropLast()
    require(linesOverPipe(input) == expected, "lines come as they were sent")
    for line in expected { checkAnswer(to: line) }
  }

  private static func checkAnswer(to line: [UInt8]) {
    let bytes = CheckSession.answer(to: .bytes(line))
    require(!bytes.contains(0x0A), "an answer is one line")
    let limits = JSONLimits(maximumDepth: 256, maximumByteCount: 1 << 24, maximumMemberCount: 1 << 20)
    let answer = made("an answer") { () throws(JSONFailure) in try JSONObject(parsing: bytes, limits: limits)
    }
    require(answer.contains("ok") != answer.contains("error"), "an answer is a result or an error")
    let request = accepted { () throws(JSONFailure) in
      try JSONObject(parsing: line, limits: JSONLimits(maximumDepth: 64))
    }
    if let request { require(answer["id"] == request["id"] ?? .null, "an answer names its request") }
  }

  /// The lines that the reader returns for an input that fits a pipe.
  private static func linesOverPipe(_ input: [UInt8]) -> [[UInt8]] {
    precondition(input.count <= 65_536, "run with -max_len=65536 or less")
    var ends: [Int32] = [0, 0]
    require(pipe(&ends) == 0, "there is a pipe")
    require(write(ends[1], input, input.count) == input.count, "a pipe takes 64 KiB")
    close(ends[1])
    defer { close(ends[0]) }
    var reader = LineReader(descriptor: ends[0])
    var lines: [[UInt8]] = []
    while let line = reader.next(beforeWaiting: {}) {
      if case .bytes(let bytes) = line { lines.append(bytes) }
    }
    return lines
  }
}
