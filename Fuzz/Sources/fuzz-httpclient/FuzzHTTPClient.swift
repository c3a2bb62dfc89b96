import LibFuzzer

// The parser is not public: on a connection, libcurl decides which lines reach it.
@testable import SignetHTTPClient

@main struct FuzzHTTPClient {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkResponseHead(input)
    checkRequest(input)
  }

  private static func checkResponseHead(_ input: [UInt8]) {
    var head = ResponseHead()
    require(!head.hasBegun && !head.isComplete, "nothing has come")
    for line in lines(input) {
      let before = head
      guard head.take(line: line) else { return }
      require(head.hasBegun, "something has come")
      if before.isComplete {
        require(
          head.fields.count == before.fields.count && head.status == before.status, "trailers are dropped")
      }
    }
    require(!head.isComplete || head.status != nil, "a whole section has a status")
    require(head.status.map { (200...599).contains($0) } != false, "a status is a final one")
    for (name, value) in head.fields {
      require(!name.isEmpty && name.utf8.allSatisfy(CheckedRequest.isTokenByte), "a name is a token")
      require(!value.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" }, "a value is a line")
    }
    guard head.isComplete else { return }
    let framing = head.fields.filter { ["content-length", "transfer-encoding"].contains($0.0.lowercased()) }
    require(framing.count <= 1, "a body ends in one way")
  }

  private static func checkRequest(_ input: [UInt8]) {
    let texts = lines(input).map { String(decoding: $0.dropLast(2), as: UTF8.self) }
    var request = HTTPRequest(method: .get, url: texts.first ?? "")
    for text in texts.dropFirst() {
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      request.headers.append((String(parts[0]), parts.count > 1 ? String(parts[1]) : ""))
    }
    let checked = accepted { () throws(TransportFailure) in try CheckedRequest(request) }
    guard let checked else { return }
    for line in checked.fieldLines + [checked.url] {
      require(line.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }, "nothing ends a line early")
    }
    require(checked.url.lowercased().hasPrefix("https://"), "only https is spoken")
  }

  /// Returns the lines with their line ends, as libcurl passes them.
  private static func lines(_ input: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var rest = input[...]
    while let end = rest.firstIndex(of: 0x0A) {
      lines.append(Array(rest[...end]))
      rest = rest[(end + 1)...]
    }
    if !rest.isEmpty { lines.append(Array(rest)) }
    return lines
  }
}
