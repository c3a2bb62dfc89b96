import SignetHTTPClient
import Testing

@Suite("HTTP requests and responses", .timeLimit(.minutes(10)), .needsServer)
struct HTTPClientExchangeTests {
  @Test("a request arrives unchanged, without added fields")
  func requestOnTheWire() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      let request = HTTPRequest(
        method: .post, url: server.url("/echo"),
        headers: [("Content-Type", "application/jose"), ("X-Empty", ""), ("X-Mark", "a: b;\tc")],
        body: [0, 13, 10, 0xFF])
      let response = try await transport.send(request)
      let head = """
        POST /echo HTTP/1.1\r
        Host: 127.0.0.1:\(server.port)\r
        Accept: */*\r
        Content-Type: application/jose\r
        X-Empty:\r
        X-Mark: a: b;\tc\r
        Content-Length: 4\r
        \r

        """
      #expect(String(decoding: response.body, as: UTF8.self) == head + "\0\r\n\u{FFFD}")
      #expect(response.body.suffix(4) == [0, 13, 10, 0xFF])
      #expect(response.status == 200)
      #expect(response.header("x-one") == "1")
      #expect(response.header("X-Empty") == "")
      #expect(response.header("X-Two") == nil)
    }
  }

  @Test("a connection goes to the configured address; request and TLS keep the URL's host")
  func connectAddress() async throws {
    try await TestServer.runGood { server, configuration in
      var configuration = configuration
      configuration.connectAddress = ConnectAddress(address: "127.0.0.1", port: UInt16(server.port))
      let there = try await CurlTransport(configuration).send(HTTPRequest(url: "https://127.0.0.1:1/echo"))
      #expect(String(decoding: there.body, as: UTF8.self).contains("\r\nHost: 127.0.0.1:1\r\n"))
      let other = HTTPRequest(url: "https://id.example.test/echo")
      #expect(
        await send(other, over: try CurlTransport(configuration)).failure
          == .certificateRefused(.nameMismatch))
      configuration.connectAddress = ConnectAddress(address: "::1", port: 1)
      let nowhere = HTTPRequest(url: server.url("/echo"))
      #expect(await send(nowhere, over: try CurlTransport(configuration)).failure == .unreachable(code: 7))
    }
  }

  private static let serverOfMethods = TestServer.Shared()

  @Test("every method, with content where it may have some", .serialized, arguments: HTTPMethod.allCases)
  func methods(_ method: HTTPMethod) async throws {
    try await Self.serverOfMethods.run { server, configuration in
      let before = try await server.counts().accepts
      let transport = try CurlTransport(configuration)
      let body: [UInt8] = method == .get || method == .head ? [] : Array("{}".utf8)
      let response = try await transport.send(
        HTTPRequest(method: method, url: server.url("/status/204"), body: body))
      #expect(response.status == 204)
      guard method != .head else { return }  // its echo would be a body, which is not allowed
      let echo = try await transport.send(
        HTTPRequest(method: method, url: server.url("/echo"), body: body))
      let text = String(decoding: echo.body, as: UTF8.self)
      #expect(text.hasPrefix("\(method.rawValue) /echo HTTP/1.1\r\n"))
      #expect(text.hasSuffix("\r\n\r\n" + String(decoding: body, as: UTF8.self)))
      #expect(!text.lowercased().contains("content-type"))
      #expect(try await server.counts().accepts == before + 1)
    }
  }

  @Test("a path with dots and a query arrives unchanged: a signature may cover it")
  func pathAsIs() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      let response = try await transport.send(
        HTTPRequest(url: server.url("/echo/./../x//y?a=%2F&b")))
      #expect(
        String(decoding: response.body, as: UTF8.self).hasPrefix("GET /echo/./../x//y?a=%2F&b HTTP/1.1\r\n"))
    }
  }

  @Test("a large body goes up and comes down")
  func largeBody() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      let body = [UInt8](repeating: 0x5A, count: 900_000)
      let response = try await transport.send(
        HTTPRequest(method: .put, url: server.url("/echo"), body: body))
      #expect(Array(response.body.suffix(body.count)) == body)
    }
  }

  @Test("a cookie is not kept")
  func noCookies() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      let first = try await transport.send(HTTPRequest(url: server.url("/echo")))
      #expect(first.header("Set-Cookie") == "a=b; Secure")
      let second = try await transport.send(HTTPRequest(url: server.url("/echo")))
      #expect(!String(decoding: second.body, as: UTF8.self).lowercased().contains("cookie"))
    }
  }

  @Test("a request's own cookies are sent in one field")
  func ownCookies() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      var request = HTTPRequest(url: server.url("/echo"))
      request.cookies = [
        try #require(RequestCookie(name: "a", value: "1")),
        try #require(RequestCookie(name: "b", value: "x=y")),
      ]
      let echo = String(decoding: try await transport.send(request).body, as: UTF8.self)
      #expect(echo.contains("Cookie: a=1; b=x=y"))
    }
  }

  @Test(
    "invalid cookies are refused",
    arguments: [
      ("", "a"), ("a b", "c"), ("a", "b;c"), ("a", "b c"), ("a", "b,c"), ("a", "\\"), ("ä", "b"),
      ("a", "\r\n"),
    ])
  func badCookie(_ name: String, _ value: String) {
    #expect(RequestCookie(name: name, value: value) == nil)
  }

  @Test("early hints and trailers are not the answer's fields")
  func onlyFinalFields() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      let hinted = try await transport.send(HTTPRequest(url: server.url("/hints")))
      #expect(hinted.status == 200)
      #expect(hinted.headers.map(\.0) == ["Content-Length", "X-Late"])
      #expect(hinted.body == Array("late".utf8))
      let trailed = try await transport.send(HTTPRequest(url: server.url("/trailer")))
      #expect(trailed.headers.map(\.0) == ["Transfer-Encoding"])
      #expect(trailed.body == Array("abc".utf8))
    }
  }

  private static let serverOfStatuses = TestServer.Shared()

  @Test("a status of 400 and above is an answer", .serialized, arguments: [400, 401, 404, 429, 500, 503])
  func statuses(_ status: Int) async throws {
    try await Self.serverOfStatuses.run { server, configuration in
      let transport = try CurlTransport(configuration)
      #expect(
        try await transport.send(HTTPRequest(url: server.url("/status/\(status)"))).status == status)
    }
  }

  @Test("one connection serves request after request, and ends with the transport")
  func keepAlive() async throws {
    try await TestServer.runGood { server, configuration in
      do {
        let transport = try CurlTransport(configuration)
        for _ in 0..<10 {
          #expect(try await transport.send(HTTPRequest(url: server.url("/echo"))).status == 200)
        }
        let counts = try await server.counts()
        #expect(counts.accepts == 1)
        #expect(counts.requests == 10)
        #expect(counts.ended == 0)
      }
      try await server.wait(for: "ended", 1)
    }
  }

  @Test("fifty requests at once, each on a connection of its own")
  func fiftyAtOnce() async throws {
    try await TestServer.runGood { server, configuration in
      var configuration = configuration
      configuration.maximumConnections = 50
      let transport = try CurlTransport(configuration)
      // The server answers none before it has all.
      let answers = await sendFifty(to: server.url("/gather"), over: transport)
      #expect(answers.allSatisfy { $0.failure == nil })
      #expect(try await server.counts().accepts == 50)
    }
  }

  @Test("fifty requests share the connections there may be, and none is forgotten", arguments: 1...8)
  func fiftyShareFour(_: Int) async throws {
    try await TestServer.runGood { server, configuration in
      var configuration = configuration
      configuration.maximumConnections = 4
      let transport = try CurlTransport(configuration)
      let answers = await sendFifty(to: server.url("/bytes/1000"), over: transport)
      #expect(answers.allSatisfy { $0.failure == nil })
      let counts = try await server.counts()
      #expect(counts.requests == 50)
      #expect((1...4).contains(counts.accepts))
    }
  }

  private func sendFifty(
    to url: String, over transport: CurlTransport
  ) async -> [Result<HTTPResponse, TransportFailure>] {
    await withTaskGroup { group in
      for _ in 0..<50 {
        group.addTask { await SignetHTTPClientTests.send(HTTPRequest(url: url), over: transport) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }
}
