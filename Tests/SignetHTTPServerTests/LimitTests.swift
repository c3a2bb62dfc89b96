import SignetHTTPServer
import SignetTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct LimitTests {
  private let ok: ServerHandler = { ServerResponse(status: 200, body: Array("\($0.body.count)".utf8)) }

  @Test("a body of exactly the limit is accepted")
  func bodyAtTheLimit() async throws {
    try await withServer(limits: limits { $0.bodyByteCount = 1000 }, handler: ok) { port in
      let answer = try await blocking {
        let body = String(repeating: "a", count: 1000)
        return try RawClient(port).ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n" + body)
      }
      #expect(answer.status == 200)
      #expect(answer.body == Array("1000".utf8))
    }
  }

  @Test("a larger length is refused before the body comes")
  func lengthBeyondTheLimit() async throws {
    let recorder = Recorder()
    try await withServer(limits: limits { $0.bodyByteCount = 1000 }, handler: recorder.handler) { port in
      let answer = try await blocking {
        let client = try RawClient(port)
        let answer = try client.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n")
        #expect(client.receiveAll().isEmpty)  // closed
        return answer
      }
      #expect(answer.status == 413)
      #expect(answer.head.contains("Connection: close"))
    }
    #expect(recorder.all.isEmpty)
  }

  @Test("the refusal reaches a client that keeps sending")
  func lengthBeyondTheLimitWhileSending() async throws {
    try await withServer(limits: limits { $0.bodyByteCount = 1000 }, handler: ok) { port in
      let answer = try await blocking {
        let client = try RawClient(port)
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n")
        client.send([UInt8](repeating: 0x61, count: 500_000))
        return try client.answer()
      }
      #expect(answer.status == 413)
    }
  }

  @Test("with Expect the refusal comes instead of 100")
  func expectBeyondTheLimit() async throws {
    try await withServer(limits: limits { $0.bodyByteCount = 1000 }, handler: ok) { port in
      let answer = try await blocking {
        try RawClient(port).ask(
          "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n")
      }
      #expect(answer.status == 413)
    }
  }

  @Test("header fields beyond the limit are 431, by size and by number")
  func headers() async throws {
    let bounds = limits {
      $0.headerByteCount = 1000
      $0.headerCount = 10
    }
    try await withServer(limits: bounds, handler: ok) { port in
      let statuses = try await blocking {
        try ["X-A: " + String(repeating: "a", count: 900), "X-A: " + String(repeating: "a", count: 1000)]
          .map { try RawClient(port).ask("GET / HTTP/1.1\r\nHost: h\r\n\($0)\r\n\r\n").status }
          + [9, 10].map { count in
            let fields = String(repeating: "X: 1\r\n", count: count)
            return try RawClient(port).ask("GET / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n").status
          }
      }
      #expect(statuses == [200, 431, 200, 431])
    }
  }

  @Test("header fields larger than the connection's memory are refused, and the server continues")
  func hugeHeaders() async throws {
    try await withServer(handler: ok) { port in
      let refused = try await blocking {
        let client = try RawClient(port)
        client.send(
          "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: 123456789\r\n", count: 100_000) + "\r\n")
        return String(decoding: client.receiveAll(), as: UTF8.self)
      }
      #expect(refused.isEmpty || refused.hasPrefix("HTTP/1.1 431"))
      let status = try await blocking { try RawClient(port).ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status }
      #expect(status == 200)
    }
  }

  @Test("a request line beyond the limit is 414")
  func requestLine() async throws {
    try await withServer(limits: limits { $0.requestLineByteCount = 100 }, handler: ok) { port in
      let statuses = try await blocking {
        try [87, 88].map { count in  // "GET " + target + " HTTP/1.1"
          let target = "/" + String(repeating: "a", count: count - 1)
          return try RawClient(port).ask("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n").status
        }
      }
      #expect(statuses == [200, 414])
    }
  }

  @Test(
    "a query of thousands of empty arguments is answered or refused, not fatal",
    arguments: ["&", "a&", "=&", "%00&"])
  func manyArguments(_ argument: String) async throws {
    try await withServer(handler: ok) { port in
      let query = String(repeating: argument, count: 8000 / argument.utf8.count)
      let answer = try await blocking {
        let client = try RawClient(port)
        client.send("GET /?\(query) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        return String(decoding: client.receiveAll(), as: UTF8.self)
      }
      let status = try #require(Int(answer.dropFirst(9).prefix(3)))
      #expect([200, 400, 414, 431].contains(status))
      #expect(answer.ranges(of: "HTTP/1.1 ").count == 1, "\(answer)")
      let next = try await blocking { try RawClient(port).ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status }
      #expect(next == 200)
    }
  }

  @Test("connections beyond the limit get an error; a closed one makes room")
  func connectionCount() async throws {
    let bounds = limits { ($0.connectionCount, $0.idleTimeout) = (2, .seconds(3_600)) }
    try await withServer(limits: bounds, handler: ok) { port in
      try await Self.checkPlaces(port: port, source: "127.0.0.1")
    }
  }

  @Test("the limit per address leaves other addresses alone")
  func connectionCountPerAddress() async throws {
    let bounds = limits { ($0.connectionCountPerAddress, $0.idleTimeout) = (2, .seconds(3_600)) }
    try await withServer(limits: bounds, handler: ok) { port in
      let other = try await blocking { () -> Int in
        let first = try RawClient(port)
        let second = try RawClient(port)
        _ = try first.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try second.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(try RawClient(port).ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 503)
        return try RawClient(port, from: "127.0.0.2").ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status
      }
      #expect(other == 200)
      try await Self.checkPlaces(port: port, source: "127.0.0.3")
    }
  }

  /// With a limit of two: a third connection gets an answer and is closed, and works after one of the two has ended.
  private static func checkPlaces(port: UInt16, source: String) async throws {
    try await blocking {
      let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
      let first = try RawClient(port, from: source)
      _ = try first.ask(request)
      do {
        let second = try RawClient(port, from: source)
        _ = try second.ask(request)
        let third = try RawClient(port, from: source)
        let refused = try third.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
        #expect(refused.status == 503)
        #expect(refused.head.contains("Connection: close"))
        #expect(third.receiveAll().isEmpty)
      }
      // The server detects the close with a delay.
      var isServed = false
      for _ in 0..<10_000 where !isServed {
        let client = try RawClient(port, from: source)
        client.send(request)
        isServed = (try? client.answer())?.status == 200  // failures are expected while waiting
      }
      #expect(isServed)
      #expect(try first.ask(request).status == 200)
    }
  }

  @Test("beyond the limit of refused connections, the next one is closed at once")
  func refusedConnectionCount() async throws {
    let bounds = limits {
      $0.connectionCount = 1
      ($0.refusedConnectionCount, $0.refusedConnectionCountPerAddress) = (2, 1)
      $0.idleTimeout = .seconds(3_600)
    }
    try await withServer(limits: bounds, clock: VirtualTimer(), handler: ok) { port in
      try await blocking {
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        let served = try RawClient(port)
        #expect(try served.ask(request).status == 200)
        // It sends nothing, and uses its address's only slot for rejected clients.
        let silent = try RawClient(port)
        #expect(try RawClient(port).receiveAll().isEmpty)
        let other = try RawClient(port, from: "127.0.0.2")
        #expect(try RawClient(port, from: "127.0.0.3").receiveAll().isEmpty)
        #expect(try other.ask(request).status == 503)
        #expect(try silent.ask(request).status == 503)
        #expect(try served.ask(request).status == 200)
      }
    }
  }

  @Test("a configuration out of range is refused")
  func ranges() {
    let changes: [(String, @Sendable (inout ServerLimits) -> Void)] = [
      ("bodyByteCount", { $0.bodyByteCount = -1 }), ("headerByteCount", { $0.headerByteCount = 0 }),
      ("headerCount", { $0.headerCount = 0 }), ("requestLineByteCount", { $0.requestLineByteCount = 0 }),
      ("connectionCount", { $0.connectionCount = 0 }),
      ("connectionCountPerAddress", { $0.connectionCountPerAddress = 0 }),
      ("refusedConnectionCount", { $0.refusedConnectionCount = -1 }),
      ("refusedConnectionCountPerAddress", { $0.refusedConnectionCountPerAddress = 10_001 }),
      ("idleTimeout", { $0.idleTimeout = .milliseconds(999) }),
      ("requestDeadline", { $0.requestDeadline = .zero }),
      ("handlerDeadline", { $0.handlerDeadline = .seconds(-1) }),
      ("responseDeadline", { $0.responseDeadline = .seconds(100_000) }),
    ]
    for (name, change) in changes {
      #expect(throws: ServerFailure.limitOutOfRange(name)) {
        try HTTPServer(
          HTTPServerConfiguration(security: .insecurePlaintext, limits: limits(change)), handler: ok)
      }
    }
    #expect(throws: ServerFailure.limitOutOfRange("threadCount")) {
      try HTTPServer(HTTPServerConfiguration(security: .insecurePlaintext, threadCount: 0), handler: ok)
    }
  }
}
