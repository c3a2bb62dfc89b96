import SignetHTTPServer
import Synchronization
import Testing

/// A message that must not reach a handler, and its allowed answers.
///
/// Closing the connection without an answer is allowed too.
struct HostileRequest: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let bytes: [UInt8]
  let statuses: Set<Int>

  init(_ name: String, _ text: String, _ statuses: Int...) {
    testDescription = name
    bytes = Array(text.utf8)
    self.statuses = Set(statuses)
  }

  init(_ name: String, bytes: [UInt8], _ statuses: Int...) {
    testDescription = name
    self.bytes = bytes
    self.statuses = Set(statuses)
  }

  static func head(_ line: String, _ fields: String...) -> String {
    ([line, "Host: h"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  static let all: [HostileRequest] = targets + fields + framing + chunks + lines

  static let targets = [
    "/%", "/%1", "/%zz", "/a%00b", "/%ff", "/%0d%0a", "/%7f", "/%c0%af", "/a/../b", "/a/%2e%2e/b", "/.",
    "/%2E",
    "/a#b", "a", "h:80", "ftp://h/a", "http:///a", "http://h", "*", "/a?x=%", "/a?x=%00", "/a?%ff", "/é",
    "/a\u{7F}", "/a\tb",
  ].map { HostileRequest("target \($0.debugDescription)", head("GET \($0) HTTP/1.1"), 400) }

  static let fields = [
    HostileRequest("NUL in a value", head("GET / HTTP/1.1", "X-A: a\0b"), 400),
    HostileRequest("NUL at the end of a value", head("GET / HTTP/1.1", "X-A: a\0"), 400),
    HostileRequest("NUL in a name", head("GET / HTTP/1.1", "X\0A: b"), 400),
    HostileRequest("NUL hides a field", head("GET / HTTP/1.1", "X-A: a\0\0X-B: b"), 400),
    HostileRequest("control byte in a value", head("GET / HTTP/1.1", "X-A: a\u{1}b"), 400),
    HostileRequest("DEL in a value", head("GET / HTTP/1.1", "X-A: a\u{7F}b"), 400),
    HostileRequest("bare carriage return in a value", head("GET / HTTP/1.1", "X-A: a\rX-B: b"), 400),
    HostileRequest("bare line feed ends a field", head("GET / HTTP/1.1", "X-A: a\nX-B: b"), 400),
    HostileRequest(
      "value that is not UTF-8",
      bytes: Array("GET / HTTP/1.1\r\nHost: h\r\nX: ".utf8) + [0xC3, 0x28, 13, 10, 13, 10], 400),
    HostileRequest("white space before the colon", head("GET / HTTP/1.1", "X-A : a"), 400),
    HostileRequest("tab before the colon", head("GET / HTTP/1.1", "X-A\t: a"), 400),
    HostileRequest("folded field", head("GET / HTTP/1.1", "X-A: a", " b"), 400),
    HostileRequest("white space before the first field", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400),
    HostileRequest("field without colon", head("GET / HTTP/1.1", "XA"), 400),
    HostileRequest("empty name", head("GET / HTTP/1.1", ": a"), 400),
    HostileRequest("name that is no token", head("GET / HTTP/1.1", "X(A): a"), 400),
    HostileRequest("no Host", "GET / HTTP/1.1\r\nX-A: a\r\n\r\n", 400),
    HostileRequest("two Hosts", head("GET / HTTP/1.1", "host: other"), 400),
    HostileRequest(
      "two Authorizations", head("GET / HTTP/1.1", "Authorization: Bearer a", "authorization: Bearer b"), 400),
  ]

  static let framing = [
    HostileRequest(
      "two lengths", head("POST / HTTP/1.1", "Content-Length: 1", "Content-Length: 1") + "a", 400),
    HostileRequest(
      "two different lengths", head("POST / HTTP/1.1", "Content-Length: 0", "content-length: 5") + "abcde",
      400),
    HostileRequest(
      "length and coding",
      head("POST / HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked") + "0\r\n\r\n", 400),
    HostileRequest(
      "coding and length",
      head("POST / HTTP/1.1", "Transfer-Encoding: chunked", "Content-Length: 5") + "0\r\n\r\n", 400),
    HostileRequest(
      "two codings",
      head("POST / HTTP/1.1", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + "0\r\n\r\n", 400),
    HostileRequest(
      "another coding", head("POST / HTTP/1.1", "Transfer-Encoding: gzip, chunked") + "0\r\n\r\n", 501),
    HostileRequest(
      "coding that only looks chunked", head("POST / HTTP/1.1", "Transfer-Encoding: xchunked") + "0\r\n\r\n",
      501),
    HostileRequest(
      "coding in HTTP/1.0", head("POST / HTTP/1.0", "Transfer-Encoding: chunked") + "0\r\n\r\n", 400),
    HostileRequest("length with sign", head("POST / HTTP/1.1", "Content-Length: +5") + "abcde", 400),
    HostileRequest("negative length", head("POST / HTTP/1.1", "Content-Length: -5") + "abcde", 400),
    HostileRequest("length list", head("POST / HTTP/1.1", "Content-Length: 5, 5") + "abcde", 400),
    HostileRequest("hexadecimal length", head("POST / HTTP/1.1", "Content-Length: 0x5") + "abcde", 400),
    HostileRequest("empty length", head("POST / HTTP/1.1", "Content-Length: ") + "abcde", 400),
    HostileRequest(
      "length beyond 64 bits", head("POST / HTTP/1.1", "Content-Length: 18446744073709551616"), 400),
    HostileRequest(
      "length that wraps around to two",
      head("POST / HTTP/1.1", "Content-Length: 18446744073709551618") + "ab", 400),
  ]

  /// All are rejected by their head, before libmicrohttpd, which accepts more than a strict parser, parses the first chunk.
  static let chunks = [
    ("one chunk", "2\r\nab\r\n0\r\n\r\n"), ("nothing of the body", ""),
    ("a size that is no number", "z\r\na\r\n"),
    ("a size with sign", "-1\r\na\r\n"), ("a chunk longer than its size", "1\r\nabc\r\n0\r\n\r\n"),
    ("a size beyond 64 bits", "1ffffffffffffffff\r\na"),
    ("a bare line feed after a size", "2\nab\r\n0\r\n\r\n"),
    ("a bare line feed after a chunk", "2\r\nab\n0\r\n\r\n"),
    ("a bare line feed after the last size", "0\n\r\n"),
    ("a bare line feed at the end", "0\r\n\n"),
    ("an extension with a bare line feed", "2;a\nab\r\n0\r\n\r\n"),
    ("a long extension", "2;" + String(repeating: "a", count: 3000) + "\r\nab\r\n0\r\n\r\n"),
    ("NUL in a trailer", "0\r\nX-A: a\0b\r\n\r\n"), ("a folded trailer", "0\r\nX-A: a\r\n b\r\n\r\n"),
    ("a bare line feed in a trailer", "0\r\nX-A: a\nX-B: b\r\n\r\n"),
  ].map {
    HostileRequest("chunked: \($0.0)", head("POST / HTTP/1.1", "Transfer-Encoding: chunked") + $0.1, 411)
  }

  static let lines = [
    HostileRequest("NUL in the method", head("GE\0T / HTTP/1.1"), 400),
    HostileRequest("NUL in the target", head("GET /a\0b HTTP/1.1"), 400),
    HostileRequest("NUL at the end of the target", head("GET /a\0 HTTP/1.1"), 400),
    HostileRequest("two spaces before the target", head("GET  / HTTP/1.1"), 400),
    HostileRequest("space in the target", head("GET /a b HTTP/1.1"), 400),
    HostileRequest("method that is no token", head("G{}T / HTTP/1.1"), 400),
    HostileRequest("long method", head(String(repeating: "A", count: 33) + " / HTTP/1.1"), 400),
    HostileRequest("no version", head("GET /"), 400),
    HostileRequest("HTTP/0.9", head("GET / HTTP/0.9"), 505),
    HostileRequest("HTTP/1.2", head("GET / HTTP/1.2"), 505),
    HostileRequest("HTTP/2.0", head("GET / HTTP/2.0"), 505),
    HostileRequest("lower-case version", head("GET / http/1.1"), 400),
    HostileRequest("bare line feed after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n", 400),
    HostileRequest("no method", " / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    HostileRequest("binary", bytes: Array(0...255) + Array("\r\n\r\n".utf8), 400),
  ]
}

@Suite(.timeLimit(.minutes(10))) struct HTTPServerRefusalTests {
  @Test(
    "a hostile request reaches no handler, and neither does what follows it", arguments: HostileRequest.all)
  func isRefused(_ request: HostileRequest) async throws {
    let recorder = Recorder()
    try await withServer(handler: recorder.handler) { port in
      let answer = try await blocking {
        let client = try RawClient(port)
        client.send(request.bytes + Array("GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
        client.finishSending()
        return String(decoding: client.receiveAll(), as: UTF8.self)
      }
      if !answer.isEmpty {
        let status = try #require(Int(answer.dropFirst(9).prefix(3)))
        #expect(request.statuses.contains(status), "\(answer)")
        #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
        #expect(!answer.contains("HTTP/1.1 200"))
        #expect(answer.contains("Connection: close"), "\(answer)")
      }
    }
    #expect(recorder.all.isEmpty)
  }

  @Test(
    "a wrong length and chunked bodies get the responder's answer, and the connection closes",
    arguments: HostileRequest.framing + HostileRequest.chunks)
  func framingHasOneShape(_ request: HostileRequest) async throws {
    var configuration = HTTPServerConfiguration(security: .insecurePlaintext) { refusal in
      ServerResponse(
        status: refusal.status, headers: ["Content-Type": "application/problem+json"], body: Array("why".utf8)
      )
    }
    let refused = Mutex<[RefusedRequest]>([])
    configuration.refusalObserver = { request in refused.withLock { $0.append(request) } }
    let server = try HTTPServer(configuration, handler: { _ in ServerResponse(status: 200) })
    let port = try server.start()
    let (answer, rest) = try await blocking {
      let client = try RawClient(port)
      client.send(request.bytes)
      return (try client.answer(), client.receiveAll())
    }
    #expect(request.statuses.contains(answer.status))
    #expect(answer.head.contains("Content-Type: application/problem+json"))
    #expect(answer.head.contains("Connection: close"))
    #expect(answer.body == Array("why".utf8))
    #expect(rest.isEmpty, "closed, and said once")
    await server.stop(grace: .zero)
    #expect(refused.withLock { $0.map(\.status) } == [answer.status])
    #expect(refused.withLock { $0.map(\.remoteAddress) } == ["127.0.0.1"])
  }

  @Test("each hostile request is reported once, with its response", arguments: HostileRequest.all)
  func isReported(_ request: HostileRequest) async throws {
    var configuration = HTTPServerConfiguration(security: .insecurePlaintext, threadCount: 1)
    let refused = Mutex<[RefusedRequest]>([])
    configuration.refusalObserver = { request in refused.withLock { $0.append(request) } }
    let server = try HTTPServer(configuration, handler: { _ in ServerResponse(status: 200) })
    let port = try server.start()
    let answer = try await blocking {
      let client = try RawClient(port)
      client.send(request.bytes)
      client.finishSending()
      return String(decoding: client.receiveAll(), as: UTF8.self)
    }
    await server.stop(grace: .zero)
    let statuses = refused.withLock { $0.map(\.status) }
    #expect(statuses == (answer.isEmpty ? [] : [Int(answer.dropFirst(9).prefix(3))]), "\(answer)")
  }

  @Test("a wrong length is answered while other headers are incomplete", arguments: 0..<4)
  func amongHalfHeads(_ round: Int) async throws {
    let recorder = Recorder()
    try await withServer(handler: recorder.handler) { port in
      let (answer, others) = try await blocking {
        let others = try (0..<8).map { _ in try RawClient(port) }
        for other in others { other.send("GET / HTTP/1.1\r\nHost: h\r\nX-A:") }
        let wrong = try RawClient(port)
        wrong.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +2\r\n\r\nab")
        let answer = String(decoding: wrong.receiveAll(), as: UTF8.self)
        return (answer, try others.map { try $0.ask(" a\r\n\r\n").status })
      }
      #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
      #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
      #expect(others == Array(repeating: 200, count: 8))
    }
    #expect(recorder.all.count == 8)
  }

  @Test("refusals are made by the responder; a broken one is replaced by the bare status")
  func responder() async throws {
    for (value, expected) in [("application/problem+json", true), ("a\r\nb", false)] {
      let configuration = HTTPServerConfiguration(security: .insecurePlaintext) { refusal in
        ServerResponse(status: refusal.status, headers: ["Content-Type": value], body: Array("why".utf8))
      }
      let server = try HTTPServer(configuration, handler: { _ in ServerResponse(status: 200) })
      let port = try server.start()
      let answer = try await blocking { try RawClient(port).ask("GET /% HTTP/1.1\r\nHost: h\r\n\r\n") }
      #expect(answer.status == 400)
      #expect(answer.head.contains("application/problem+json") == expected)
      #expect(answer.body == (expected ? Array("why".utf8) : []))
      await server.stop(grace: .zero)
    }
  }
}
