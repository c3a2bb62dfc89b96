import SignetHTTPServer
import SignetTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct StopTests {
  private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

  @Test("stop lets a request finish, closes idle connections, refuses new ones and may be called again")
  func graceful() async throws {
    let arrived = Gate()
    let gate = Gate()
    let server = try HTTPServer(
      HTTPServerConfiguration(security: .insecurePlaintext), clock: VirtualTimer()
    ) { request in
      if request.path.raw == "/slow" {
        await arrived.open()
        await gate.wait()
      }
      return ServerResponse(status: 200, body: Array("done".utf8))
    }
    let port = try server.start()
    let (idle, busy) = try await blocking {
      let idle = try RawClient(port)
      #expect(try idle.ask(Self.request).status == 200)
      let busy = try RawClient(port)
      busy.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
      return (idle, busy)
    }
    await arrived.wait()
    async let first: Void = server.stop(grace: .seconds(60))
    async let second: Void = server.stop(grace: .seconds(60))
    #expect(try await blocking { idle.receiveAll() }.isEmpty)
    #expect(throws: (any Error).self) { try RawClient(port) }
    await gate.open()
    let answer = try await blocking { try busy.answer() }
    #expect(answer.body == Array("done".utf8))
    #expect(answer.head.contains("Connection: close"))
    _ = await (first, second)
    await server.stop(grace: .zero)
    #expect(throws: ServerFailure.alreadyStarted) { try server.start() }
  }

  @Test("an incomplete request at the stop of the server is still served")
  func finishesReceiving() async throws {
    // The test machine may pause for longer than the usual limit allows between two lines of this.
    let patient = limits { $0.idleTimeout = .seconds(3_600) }
    let server = try HTTPServer(
      HTTPServerConfiguration(security: .insecurePlaintext, limits: patient), clock: VirtualTimer()
    ) { request in
      ServerResponse(status: 200, body: request.body)
    }
    let port = try server.start()
    let (client, idle) = try await blocking {
      let client = try RawClient(port)
      client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
      #expect(try client.answer().status == 100)
      let idle = try RawClient(port)
      _ = try idle.ask(Self.request)
      return (client, idle)
    }
    async let stop: Void = server.stop(grace: .seconds(60))
    _ = try await blocking { idle.receiveAll() }  // so the stop has begun
    let answer = try await blocking { try client.ask("body") }
    #expect(answer.body == Array("body".utf8))
    #expect(answer.head.contains("Connection: close"))
    await stop
  }

  @Test(
    "after the grace period handlers are cancelled and clients get an error; a stuck handler does not delay the stop"
  )
  func graceEnds() async throws {
    let meeting = Meeting(of: 2)
    let never = Gate()
    let timer = VirtualTimer()
    let server = try HTTPServer(HTTPServerConfiguration(security: .insecurePlaintext), clock: timer) {
      request in
      await meeting.arrive()
      if request.path.raw == "/deaf" { await never.wait() } else { await untilCancelled() }
      return ServerResponse(status: 200)
    }
    let port = try server.start()
    let clients = try await blocking {
      try ["/", "/deaf"].map { path in
        let client = try RawClient(port)
        client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
        return client
      }
    }
    await meeting.gate.wait()
    async let stop: Void = server.stop(grace: .seconds(10))
    #expect(await timer.untilSomeoneSleeps() == .seconds(10))
    timer.advance(by: .seconds(10))
    let statuses = try await blocking { try clients.map { try $0.answer().status } }
    await stop
    #expect(statuses[1] == 503)
    #expect([200, 503].contains(statuses[0]))
    await never.open()
  }

  @Test("a second stop with a shorter grace period shortens the first")
  func impatience() async throws {
    let arrived = Gate()
    let server = try HTTPServer(HTTPServerConfiguration(security: .insecurePlaintext)) { _ in
      await arrived.open()
      await untilCancelled()
      return ServerResponse(status: 200)
    }
    let port = try server.start()
    let client = try await blocking {
      let client = try RawClient(port)
      client.send(Self.request)
      return client
    }
    await arrived.wait()
    async let first: Void = server.stop(grace: .seconds(3600))
    await server.stop(grace: .zero)
    await first
    _ = client
  }

  @Test("a released server stops")
  func dropped() async throws {
    let arrived = Gate()
    var server: HTTPServer? = try HTTPServer(
      HTTPServerConfiguration(security: .insecurePlaintext), clock: VirtualTimer()
    ) { _ in
      await arrived.open()
      await untilCancelled()
      return ServerResponse(status: 200)
    }
    let port = try #require(try server?.start())
    let client = try await blocking {
      let client = try RawClient(port)
      client.send(Self.request)
      return client
    }
    await arrived.wait()
    server = nil
    let all = try await blocking { String(decoding: client.receiveAll(), as: UTF8.self) }
    #expect(all.hasPrefix("HTTP/1.1 503") || all.hasPrefix("HTTP/1.1 200"))
  }

  @Test("stop before start, and start twice")
  func order() async throws {
    let configuration = HTTPServerConfiguration(security: .insecurePlaintext)
    let stopped = try HTTPServer(configuration) { _ in ServerResponse(status: 200) }
    await stopped.stop(grace: .seconds(1))
    #expect(throws: ServerFailure.alreadyStarted) { try stopped.start() }
    let started = try HTTPServer(configuration) { _ in ServerResponse(status: 200) }
    try started.start()
    #expect(throws: ServerFailure.alreadyStarted) { try started.start() }
    await started.stop(grace: .seconds(1))
  }

  @Test("a port in use is a failure that names the call, and leaves nothing behind")
  func portInUse() async throws {
    try await withServer(handler: { _ in ServerResponse(status: 200) }) { port in
      let other = try HTTPServer(HTTPServerConfiguration(port: port, security: .insecurePlaintext)) { _ in
        ServerResponse(status: 200)
      }
      #expect(throws: ServerFailure.cannotListen(call: "bind", errno: 98)) { try other.start() }
    }
  }

  /// A token that lives as long as the handler that captures it.
  private final class Token: Sendable {}

  @Test("a stopped server leaves nothing behind, whatever its clients did")
  func nothingIsLeft() async throws {
    weak var token: Token?
    do {
      let kept = Token()
      token = kept
      let server = try HTTPServer(HTTPServerConfiguration(security: .insecurePlaintext)) { request in
        withExtendedLifetime(kept) {}
        if request.path.raw == "/wait" { await untilCancelled() } else { await Task.yield() }
        return ServerResponse(status: 200, body: request.body)
      }
      let port = try server.start()
      try await withThrowingTaskGroup { group in
        for index in 0..<50 {
          group.addTask { try await blocking { try Self.misbehave(index, port) } }
        }
        try await group.waitForAll()
      }
      await server.stop(grace: .seconds(10))
    }
    // The tasks of cancelled handlers may still be ending.
    while token != nil { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Ten connections of one client, some of which end in the middle of a request or of its answer.
  private static func misbehave(_ index: Int, _ port: UInt16) throws {
    let source = "127.0.1.\(index + 1)"
    for turn in 0..<10 {
      let client = try RawClient(port, from: source)
      if (index + turn) % 3 == 0 { client.resetOnClose() }
      switch (index + turn) % 8 {
      case 0: client.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
      case 1: client.send("GET / HT")
      case 2: client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
      case 3:
        client.send(
          "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /wait HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\n")
      case 4: client.send("GET /% HTTP/1.1\r\nHost: h\r\n\r\n")
      case 5: client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      default:
        #expect(
          try client.ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc").body
            == Array("abc".utf8))
      }
    }
  }
}
