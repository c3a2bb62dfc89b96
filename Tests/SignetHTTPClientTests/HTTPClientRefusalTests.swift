import SignetHTTPClient
import Testing

@Suite("Refused HTTP responses", .timeLimit(.minutes(10)), .needsServer)
struct HTTPClientRefusalTests {
  private static let server = TestServer.Shared()

  @Test(
    "a hostile or broken answer has its own failure", .serialized,
    arguments: [
      ("/announced", .responseTooLarge(limit: 5000)),
      ("/stream", .responseTooLarge(limit: 5000)),
      ("/bytes/5001", .responseTooLarge(limit: 5000)),
      ("/fields", .headersTooLarge(limit: 2000)),
      ("/cut", .incompleteResponse(code: 18)),
      ("/cut-chunk", .incompleteResponse(code: 18)),
      ("/cut-name", .incompleteResponse(code: 18)),
      ("/cut-fields", .incompleteResponse(code: 18)),
      ("/until-close", .incompleteResponse(code: 18)),
      ("/until-reset", .incompleteResponse(code: 18)),
      ("/garbage", .malformedResponse(code: 1)),
      ("/binary", .malformedResponse(code: 1)),
      ("/no-colon", .malformedResponse(code: 8)),
      ("/bad-name", .malformedResponse(code: 8)),
      ("/empty", .noResponse(code: 52)),
      ("/status/301", .redirectRefused(status: 301)),
      ("/status/302", .redirectRefused(status: 302)),
      ("/status/303", .redirectRefused(status: 303)),
      ("/status/307", .redirectRefused(status: 307)),
      ("/status/308", .redirectRefused(status: 308)),
      ("/status/999", .malformedResponse(code: 8)),
    ] as [(String, TransportFailure)])
  func refused(_ path: String, _ failure: TransportFailure) async throws {
    try await Self.server.run { server, configuration in
      let before = try await server.counts().requests
      var configuration = configuration
      configuration.maximumResponseByteCount = 5000
      configuration.maximumHeaderByteCount = 2000
      configuration.retries = 3
      let transport = try CurlTransport(configuration, systemRootsFolder: nil) { _ in
        Issue.record("what was sent is never sent again")
      }
      let result = await send(HTTPRequest(method: .post, url: server.url(path)), over: transport)
      #expect(result.failure == failure)
      #expect(try await server.counts().requests == before + 1)
      // The transport still works.
      #expect(try await transport.send(HTTPRequest(url: server.url("/bytes/5000"))).body.count == 5000)
    }
  }

  @Test("a redirect is returned if the request accepts it, and never followed")
  func takenRedirect() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      var request = HTTPRequest(url: server.url("/status/302"))
      request.acceptsRedirect = true
      #expect(try await transport.send(request).status == 302)
      #expect(try await server.counts().requests == 1)
    }
  }

  @Test("a request on a kept connection that dies is not sent again", arguments: [HTTPMethod.get, .post])
  func noSecondSending(_ method: HTTPMethod) async throws {
    try await TestServer.runGood { server, configuration in
      var configuration = configuration
      configuration.retries = 3
      let transport = try CurlTransport(configuration)
      #expect(try await transport.send(HTTPRequest(url: server.url("/echo"))).status == 200)
      let result = await send(HTTPRequest(method: method, url: server.url("/empty")), over: transport)
      guard case .noResponse = result.failure else {
        Issue.record("\(result)")
        return
      }
      #expect(try await server.counts().requests == 2)
    }
  }

  @Test("plain http is refused without a connection")
  func plainHTTP() async throws {
    try await TestServer.run(ServerSetup()) { server in
      let transport = try CurlTransport()
      for url in [
        "http://127.0.0.1:\(server.port)/echo", "HTTP://127.0.0.1:\(server.port)/echo",
        "127.0.0.1:\(server.port)/echo", "ws://127.0.0.1:\(server.port)/", "file:///etc/passwd", "",
      ] {
        #expect(await send(HTTPRequest(url: url), over: transport).failure == .insecureURL)
      }
      #expect(try await server.knock().accepts == 1, "only the knock itself arrived")
    }
  }

  @Test("a server that speaks plain http on the port of https")
  func plainServer() async throws {
    try await TestServer.run(ServerSetup()) { server in
      let transport = try CurlTransport()
      let result = await send(HTTPRequest(url: server.url("/echo")), over: transport)
      guard case .tlsRefused = result.failure else {
        Issue.record("\(result)")
        return
      }
      #expect(try await server.counts().requests == 0)
    }
  }
}
