import Testing

import SignetHTTPClient

/// Calls the parser directly: on a connection, a library decides which lines reach it, so not every one can be tried.
@Suite("Header sections")
struct ResponseHeadTests {
  private func read(_ lines: [String], upTo version: HTTPVersion = .http1) -> ResponseHead? {
    var head = ResponseHead(upTo: version)
    for line in lines {
      guard head.take(line: Array(line.utf8)) else { return nil }
    }
    return head
  }

  @Test("a section, field by field")
  func reads() throws {
    let head = try #require(
      read([
        "HTTP/1.1 200 OK\r\n", "A: 1\r\n", "b:\t2 3 \t\r\n", "C:\r\n", "A: \u{E9}\r\n",
        "Content-Length: 0\r\n",
        "\r\n",
      ]))
    #expect(head.status == 200)
    #expect(head.fields.map(\.0) == ["A", "b", "C", "A", "Content-Length"])
    #expect(head.fields.map(\.1) == ["1", "2 3", "", "\u{E9}", "0"])
    #expect(head.isComplete)
    #expect(head.isFramed)
  }

  @Test("informational answers before, trailers after")
  func aroundIt() throws {
    let head = try #require(
      read([
        "HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 103 Early Hints\r\n", "A: 1\r\n", "\r\n",
        "HTTP/1.0 404\r\n", "Transfer-Encoding: Chunked\r\n", "\r\n", "B: 2\r\n", "\r\n",
      ]))
    #expect(head.status == 404)
    #expect(head.fields.map(\.0) == ["Transfer-Encoding"])
    #expect(head.isFramed)
  }

  @Test("a section is complete with its empty line only, and only that of the final answer")
  func incomplete() throws {
    #expect(try #require(read(["HTTP/1.1 200 OK\r\n", "A: 1\r\n"])).isComplete == false)
    #expect(try #require(read(["HTTP/1.1 103 X\r\n", "\r\n"])).isComplete == false)
    #expect(try #require(read([])).isComplete == false)
  }

  @Test(
    "the framing of the body is determined", arguments: [("204 A", true), ("304 A", true), ("200 A", false)])
  func framed(_ status: String, _ isFramed: Bool) throws {
    let head = try #require(read(["HTTP/1.1 \(status)\r\n", "Transfer-Encoding: identity\r\n", "\r\n"]))
    #expect(head.isFramed == isFramed)
  }

  @Test("a response over HTTP/2 has the framing of HTTP/2")
  func framedByVersion() throws {
    let head = try #require(read(["HTTP/2 410 \r\n", "apns-id: 1\r\n", "\r\n"], upTo: .http2))
    #expect(head.status == 410)
    #expect(head.fields.map(\.0) == ["apns-id"])
    #expect(head.isFramed)
    let older = try #require(read(["HTTP/1.1 200 OK\r\n", "\r\n"], upTo: .http2))
    #expect(!older.isFramed)
  }

  @Test(
    "malformed header sections are refused",
    arguments: [
      ["HTTP/1.1 200 OK\n"], ["HTTP/1.1 200 OK"], ["HTTP/1.1 20 OK\r\n"], ["HTTP/1.1 2000\r\n"],
      ["HTTP/1.1 099 A\r\n"], ["HTTP/1.1 101 A\r\n"], ["HTTP/1.1 600 A\r\n"], ["HTTP/2 200\r\n"],
      ["http/1.1 200 OK\r\n"], ["HTTP/1.1  200\r\n"], ["HTTP/1.1 +20\r\n"], ["\r\n"], ["A: 1\r\n"],
      ["HTTP/1.1 200 OK\r\n", "A\r\n"], ["HTTP/1.1 200 OK\r\n", "A : 1\r\n"],
      ["HTTP/1.1 200 OK\r\n", " A: 1\r\n"], ["HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\tfolded\r\n"],
      ["HTTP/1.1 200 OK\r\n", ": 1\r\n"], ["HTTP/1.1 200 OK\r\n", "A: 1\0\r\n"],
      ["HTTP/1.1 200 OK\r\n", "A: 1\rB: 2\r\n"], ["HTTP/1.1 200 OK\r\n", "A: 1\n"],
      ["HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n", "content-length: 2\r\n", "\r\n"],
      ["HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "\r\n"],
    ])
  func refuses(_ lines: [String]) {
    #expect(read(lines).map(\.isComplete) == nil)
  }
}
