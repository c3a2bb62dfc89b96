import LibFuzzer

// The parsers are not public: the server's values have passed through them.
@testable import SignetHTTPServer

@main struct FuzzHTTP {
  static func main() { LibFuzzer.run(check) }

  private static func check(_ input: [UInt8]) {
    checkTarget(input)
    checkParts(input)
    checkFields(input)
    checkToken(input)
  }

  /// RFC 9110 section 5.6.2: visible characters except for the delimiters.
  private static func checkToken(_ input: [UInt8]) {
    let delimiters = Array("\"(),/:;<=>?@[\\]{}".utf8)
    let isOne = input.allSatisfy { (0x21...0x7E).contains($0) && !delimiters.contains($0) }
    require(Token.isValid(input) == (!input.isEmpty && isOne), "a token has no delimiter")
  }

  private static func checkTarget(_ input: [UInt8]) {
    for method in ["GET", "OPTIONS"] {
      guard let target = accepted({ () throws(RequestRefusal) in try RequestTarget(input, method: method) })
      else { continue }
      check(target.path)
      check(target.query)
      require(target.path.raw.utf8.first == UInt8(ascii: "/") || method == "OPTIONS", "a path is absolute")
      require(!target.path.raw.contains("?"), "a path ends before the query")
    }
  }

  private static func checkParts(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    if let path = accepted({ () throws(RequestRefusal) in try RequestPath(raw: text) }) { check(path) }
    if let query = accepted({ () throws(RequestRefusal) in try QueryParameters(raw: text) }) { check(query) }
    var encoded: [UInt8] = []
    for byte in input {
      let digits = Array("0123456789ABCDEF".utf8)
      encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    let decoded = accepted { () throws(RequestRefusal) in
      try PercentDecoding.decode(encoded, plusIsSpace: false)
    }
    let isText = String(validating: input, as: UTF8.self) != nil
    let hasControl = input.contains { $0 < 0x20 || $0 == 0x7F }
    require((decoded != nil) == (isText && !hasControl), "all text is decoded, and nothing else")
    require(decoded.map { $0.utf8.elementsEqual(input) } != false, "decoding undoes encoding")
  }

  private static func check(_ path: RequestPath) {
    for segment in path.segments {
      require(segment != "." && segment != "..", "no segment leads elsewhere")
      require(segment.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "no control byte comes through")
    }
    let again = accepted { () throws(RequestRefusal) in try RequestPath(raw: path.raw) }
    require(again == path, "a path is read alike twice")
  }

  private static func check(_ query: QueryParameters) {
    for item in query.items {
      require(
        (item.name + item.value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "no control byte comes through"
      )
    }
  }

  /// Each line is a field; the first one is the version.
  private static func checkFields(_ input: [UInt8]) {
    var headers = HeaderFields()
    let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let field = HeaderFields.Field(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
      if field.isValid {
        require(
          !field.value.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" }, "a value is a line"
        )
        headers.add(name: field.name, value: field.value)
      }
    }
    let framing = accepted { () throws(RequestRefusal) in
      try BodyFraming(headers, version: lines.first ?? "HTTP/1.1")
    }
    guard let framing else { return }
    let names = headers.fields.map { $0.name.lowercased() }
    require(names.count { $0 == "host" } <= 1, "there is one host")
    require(names.count { $0 == "content-length" } <= 1, "a body ends in one way")
    require(!names.contains("transfer-encoding"), "no body comes in chunks")
    if case .length(let count) = framing {
      require(
        headers["content-length"].map { UInt64($0) == count } == true, "the length is the one that was sent")
    }
  }
}
