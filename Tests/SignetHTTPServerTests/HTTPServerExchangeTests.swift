import SignetHTTPServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct HTTPServerExchangeTests {
  @Test("a handler sees method, decoded path, query, headers, body and address")
  func requestIsComplete() async throws {
    let recorder = Recorder()
    try await withServer(handler: recorder.handler) { port in
      let answer = try await blocking {
        try RawClient(port).ask(
          "PUT /a%2Fb/%C3%A9?x=1+2&y=%26&z HTTP/1.1\r\nHost: h\r\nX-Tag:  one \r\nx-tag: two\r\nContent-Length: 5\r\n\r\nhello"
        )
      }
      #expect(answer.status == 200)
      #expect(answer.body == Array("seen".utf8))
      #expect(answer.head.contains("Content-Length: 4"))
      #expect(!answer.head.contains("Connection: close"))
    }
    let request = try #require(recorder.all.first)
    #expect(recorder.all.count == 1)
    #expect(request.method == "PUT")
    #expect(request.path.raw == "/a%2Fb/%C3%A9")
    #expect(request.path.segments == ["a/b", "é"])
    #expect(request.query.raw == "x=1+2&y=%26&z")
    #expect(request.query["x"] == "1 2")
    #expect(request.query["y"] == "&")
    #expect(request.query["z"] == "")
    #expect(request.query["none"] == nil)
    #expect(request.headers.values(for: "X-TAG") == ["one", "two"])
    #expect(request.body == Array("hello".utf8))
    #expect(request.remoteAddress == "127.0.0.1")
  }

  @Test("a connection serves many requests, pipelined ones in order")
  func keepAlive() async throws {
    try await withServer(handler: { ServerResponse(status: 200, body: Array($0.path.raw.utf8)) }) { port in
      let bodies = try await blocking {
        let client = try RawClient(port)
        var bodies = [try client.ask("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n").body]
        client.send(
          "GET /2 HTTP/1.1\r\nHost: h\r\n\r\nPOST /3 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")
        client.send("GET http://h/4?q HTTP/1.1\r\nHost: h\r\n\r\n")
        for _ in 2...4 { bodies.append(try client.answer().body) }
        return bodies
      }
      #expect(bodies.map { String(decoding: $0, as: UTF8.self) } == ["/1", "/2", "/3", "/4"])
    }
  }

  @Test("a pipelined request waits until the suspended one is answered")
  func pipelinedBehindSuspended() async throws {
    let gate = Gate()
    try await withServer(handler: { request in
      if request.path.raw == "/slow" { await gate.wait() }
      return ServerResponse(status: 200, body: Array(request.path.raw.utf8))
    }) { port in
      let client = try await blocking {
        let client = try RawClient(port)
        client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /fast HTTP/1.1\r\nHost: h\r\n\r\n")
        return client
      }
      await gate.open()
      let bodies = try await blocking { [try client.answer().body, try client.answer().body] }
      #expect(bodies.map { String(decoding: $0, as: UTF8.self) } == ["/slow", "/fast"])
    }
  }

  @Test("fifty requests that wait for one another hold no thread")
  func suspensionHoldsNoThread() async throws {
    let meeting = Meeting(of: 50)
    try await withServer(handler: { _ in
      await meeting.arrive()
      await meeting.gate.wait()
      return ServerResponse(status: 200)
    }) { port in
      try await withThrowingTaskGroup { group in
        for _ in 0..<50 {
          group.addTask {
            try await blocking { try RawClient(port).ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status }
          }
        }
        for try await status in group { #expect(status == 200) }
      }
    }
  }

  @Test("HEAD has the length of GET and no body")
  func head() async throws {
    try await withServer(handler: { _ in ServerResponse(status: 200, body: Array("12345".utf8)) }) { port in
      let answers = try await blocking {
        let client = try RawClient(port)
        return [
          try client.ask("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", hasBody: false),
          try client.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        ]
      }
      #expect(answers[0].head.contains("Content-Length: 5"))
      #expect(answers[1].body.count == 5)
    }
  }

  @Test("OPTIONS * reaches the handler as such")
  func serverWideOptions() async throws {
    let recorder = Recorder()
    try await withServer(handler: recorder.handler) { port in
      let status = try await blocking {
        try RawClient(port).ask("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").status
      }
      #expect(status == 200)
    }
    #expect(recorder.all.first?.path.raw == "*")
    #expect(recorder.all.first?.path.segments == [])
  }

  @Test("100 Continue is sent for a body within the limit")
  func continues() async throws {
    try await withServer(handler: { ServerResponse(status: 200, body: $0.body) }) { port in
      let answers = try await blocking {
        let client = try RawClient(port)
        let first = try client.ask(
          "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        return [first, try client.ask("abc")]
      }
      #expect(answers.map(\.status) == [100, 200])
      #expect(answers[1].body == Array("abc".utf8))
    }
  }

  @Test("HTTP/1.0 is served and closed")
  func oldVersion() async throws {
    try await withServer(handler: { _ in ServerResponse(status: 200, body: [0x78]) }) { port in
      let all = try await blocking {
        let client = try RawClient(port)
        client.send("GET / HTTP/1.0\r\n\r\n")
        return String(decoding: client.receiveAll(), as: UTF8.self)
      }
      #expect(all.hasPrefix("HTTP/1.1 200") || all.hasPrefix("HTTP/1.0 200"))
      #expect(all.hasSuffix("\r\n\r\nx"))
    }
  }

  @Test(
    "a response that would break its message is replaced by 500",
    arguments: [
      ServerResponse(status: 200, headers: ["X-A": "1\r\nSet-Cookie: a=b"]),
      ServerResponse(status: 200, headers: ["X-A": "1\nX-B: 2"]),
      ServerResponse(status: 200, headers: ["X-A": "a\0b"]),
      ServerResponse(status: 200, headers: ["X A": "1"]),
      ServerResponse(status: 200, headers: ["X-A:": "1"]),
      ServerResponse(status: 200, headers: ["": "1"]),
      ServerResponse(status: 200, headers: ["Content-Length": "1"]),
      ServerResponse(status: 200, headers: ["transfer-encoding": "chunked"]),
      ServerResponse(status: 200, headers: ["Connection": "close"]),
      ServerResponse(status: 99), ServerResponse(status: 101), ServerResponse(status: 600),
      ServerResponse(status: 204, body: [1]),
    ])
  func brokenResponse(_ response: ServerResponse) async throws {
    try await withServer(handler: { _ in response }) { port in
      let answer = try await blocking { try RawClient(port).ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
      #expect(answer.status == 500)
      #expect(!answer.head.contains("X-"))
      #expect(!answer.head.contains("Set-Cookie"))
    }
  }

  @Test("an IPv6 client is named by its address")
  func addressVersion6() async throws {
    let recorder = Recorder()
    let server = try HTTPServer(
      HTTPServerConfiguration(address: "::1", security: .insecurePlaintext), handler: recorder.handler)
    let port = try server.start()
    let output = try await Command.run("curl", "-sS", "-g", "http://[::1]:\(port)/")
    #expect(output == "seen")
    await server.stop(grace: .seconds(10))
    #expect(recorder.all.map(\.remoteAddress) == ["::1"])
  }
}
