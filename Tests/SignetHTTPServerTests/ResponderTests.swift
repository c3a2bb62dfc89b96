import SignetHTTPServer
import SignetTestKit
import Synchronization
import Testing

/// Handlers that answer by a responder: later, from other threads, or not at all.
@Suite(.timeLimit(.minutes(10))) struct ResponderTests {
  private static let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

  /// Runs `body` with the port of a server, which is stopped afterwards.
  private func serving<R>(
    _ configuration: HTTPServerConfiguration = HTTPServerConfiguration(security: .insecurePlaintext),
    clock: any Clock<Duration> = ContinuousClock(), direct: @escaping DirectHandler,
    _ body: (UInt16) async throws -> R
  ) async throws -> R {
    let server = try HTTPServer(configuration, clock: clock, direct: direct)
    let port = try server.start()
    do {
      let result = try await body(port)
      await server.stop(grace: .seconds(10))
      return result
    } catch {
      await server.stop(grace: .zero)
      throw error
    }
  }

  @Test("an answer at once, from another thread and after the handler has returned; a second one is dropped")
  func answers() async throws {
    try await serving(direct: { request, responder in
      switch request.path.raw {
      case "/now": responder.answer(ServerResponse(status: 200, body: Array("now".utf8)))
      case "/twice":
        responder.answer(ServerResponse(status: 200, body: Array("first".utf8)))
        responder.answer(ServerResponse(status: 404))
      default:
        Task.detached { responder.answer(ServerResponse(status: 200, body: Array("later".utf8))) }
      }
    }) { port in
      let bodies = try await blocking {
        let client = try RawClient(port)
        return try ["/now", "/later", "/twice", "/later"].map {
          try client.ask("GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n").body
        }
      }
      #expect(bodies.map { String(decoding: $0, as: UTF8.self) } == ["now", "later", "first", "later"])
    }
  }

  /// Collects responders until there are enough of them, and then answers all.
  private actor Batch {
    private var responders: [Responder] = []
    private let size: Int
    /// Opens when the expected number waits.
    let isFull = Gate()

    init(_ size: Int) { self.size = size }

    func add(_ responder: Responder) async {
      responders.append(responder)
      if responders.count == size { await isFull.open() }
    }

    func answerAll() {
      for responder in responders { responder.answer(ServerResponse(status: 200)) }
    }
  }

  @Test(
    "concurrently answered clients all get their response, also if the first has disconnected",
    arguments: [1, 3])
  func batches(threads: Int) async throws {
    let batches = (0..<10).map { _ in Batch(40) }
    let configuration = HTTPServerConfiguration(security: .insecurePlaintext, threadCount: threads)
    try await serving(
      configuration,
      direct: { request, responder in
        let number = Int(request.path.raw.dropFirst()) ?? 0
        Task { await batches[number].add(responder) }
      }
    ) { port in
      for (number, batch) in batches.enumerated() {
        // From a separate address, since the connections of the previous batch may still be open.
        var clients = try await blocking {
          let clients = try (0..<40).map { _ in try RawClient(port, from: "127.0.1.\(number + 1)") }
          for client in clients { client.send("GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n") }
          return clients
        }
        await batch.isFull.wait()
        // Some connections have ended before their answers.
        for client in clients.prefix(3) { client.resetOnClose() }
        let staying = Array(clients.dropFirst(3))
        clients = []
        await batch.answerAll()
        let statuses = try await blocking { try staying.map { try $0.answer().status } }
        #expect(statuses == [Int](repeating: 200, count: 37))
      }
    }
  }

  @Test("without an answer the client gets a retry response, and the handler learns of it")
  func silence() async throws {
    let timer = VirtualTimer()
    let told = Gate()
    try await serving(
      clock: timer,
      direct: { _, responder in
        responder.whenCancelled { Task { Issue.record("it was replaced") } }
        responder.whenCancelled { Task { await told.open() } }
        timer.advance(by: .seconds(60))
      }
    ) { port in
      let status = try await blocking { try RawClient(port).ask(Self.get).status }
      #expect(status == 503)
      await told.wait()
    }
  }

  @Test("the handler learns of a client that disconnects, or has disconnected before")
  func desertion() async throws {
    let (arrived, told, toldAgain) = (Gate(), Gate(), Gate())
    try await serving(direct: { _, responder in
      responder.whenCancelled {
        Task {
          await told.open()
          responder.whenCancelled {
            Task {
              await toldAgain.open()
              responder.answer(ServerResponse(status: 200))  // so that the server can stop at once
            }
          }
        }
      }
      Task { await arrived.open() }
    }) { port in
      let client = try await blocking {
        let client = try RawClient(port)
        client.send(Self.get)
        return client
      }
      await arrived.wait()
      client.finishSending()
      await told.wait()
      await toldAgain.wait()
    }
  }

  @Test("a task that hands over its completion is not polled again")
  func handingOver() async throws {
    let (arrived, told) = (Gate(), Gate())
    try await serving(direct: { _, responder in
      responder.run {
        responder.whenCancelled {
          Task {
            await told.open()
            responder.answer(ServerResponse(status: 200))
          }
        }
        await arrived.open()
      }
    }) { port in
      let client = try await blocking {
        let client = try RawClient(port)
        client.send(Self.get)
        return client
      }
      await arrived.wait()
      client.finishSending()
      await told.wait()
    }
  }

  @Test("the observer gets exactly the responses of handlers")
  func observer() async throws {
    let heard = Mutex<[AnsweredRequest]>([])
    var configuration = HTTPServerConfiguration(security: .insecurePlaintext)
    configuration.observer = { answered in heard.withLock { $0.append(answered) } }
    try await serving(configuration, direct: { $1.answer(ServerResponse(status: 204)) }) { port in
      let statuses = try await blocking {
        [
          try RawClient(port).ask("POST /a?b=c HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").status,
          try RawClient(port).ask("GET /a HTTP/1.1\r\n\r\n").status,
        ]
      }
      #expect(statuses == [204, 400])
    }
    #expect(
      heard.withLock { $0 } == [
        AnsweredRequest(method: "POST", path: "/a", pattern: nil, remoteAddress: "127.0.0.1", status: 204)
      ])
  }

  @Test("the observer gets the matched route, or none")
  func observedRoute() async throws {
    let heard = Mutex<[String?]>([])
    var configuration = HTTPServerConfiguration(security: .insecurePlaintext)
    configuration.observer = { answered in heard.withLock { $0.append(answered.pattern) } }
    var routes = Router()
    routes.on("GET", "/a/{name}") { $1.answer(ServerResponse(status: 204)) }
    let router = routes
    try await serving(configuration, direct: { router.respond(to: $0, by: $1) }) { port in
      let statuses = try await blocking {
        let client = try RawClient(port)
        return try ["/a/b", "/c"].map { try client.ask("GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n").status }
      }
      #expect(statuses == [204, 404])
    }
    #expect(heard.withLock { $0 } == ["/a/{name}", nil])
  }

  @Test("a cached response can be sent repeatedly, and a change drops it")
  func kept() async throws {
    let kept = ServerResponse(status: 200, headers: ["X-A": "b"], body: Array("kept".utf8))
      .preparedForSending()
    #expect(
      kept.prepared != nil && kept == ServerResponse(status: 200, headers: ["X-A": "b"], body: kept.body))
    try await serving(direct: { request, responder in
      var response = kept
      if request.path.raw == "/other" { response.headers["X-A"] = "c" }
      responder.answer(response)
    }) { port in
      let answers = try await blocking {
        let client = try RawClient(port)
        return try ["/a", "/other", "/a", "/a"].map {
          try client.ask("GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n")
        }
      }
      #expect(answers.map { $0.head.contains("X-A: b") } == [true, false, true, true])
      #expect(answers.allSatisfy { $0.status == 200 && $0.body == kept.body })
    }
    #expect(ServerResponse(status: 99).preparedForSending().prepared == nil)
  }

  @Test("received fields are found case-insensitively, in order, and equal constructed ones")
  func receivedFields() async throws {
    let received = Mutex<HeaderFields?>(nil)
    try await serving(direct: { request, responder in
      received.withLock { $0 = request.headers }
      responder.answer(ServerResponse(status: 200))
    }) { port in
      _ = try await blocking {
        try RawClient(port).ask(
          "GET / HTTP/1.1\r\nHost: h\r\nx-Tag: \t\u{e9} 1 \t \r\nX-TAG:\r\nx-ta: 3\r\n\r\n")
      }
    }
    var fields = try #require(received.withLock { $0 })
    #expect(fields["X-tag"] == "\u{e9} 1" && fields.values(for: "x-tag") == ["\u{e9} 1", ""])
    #expect(fields.count(of: "X-Tag") == 2 && fields.count(of: "none") == 0 && fields["none"] == nil)
    let made: HeaderFields = ["Host": "h", "x-Tag": "\u{e9} 1", "X-TAG": "", "x-ta": "3"]
    #expect(fields == made && fields.hashValue == made.hashValue && made.count(of: "HOST") == 1)
    fields["x-tag"] = nil
    fields.add(name: "Z", value: "z")
    #expect(fields == ["Host": "h", "x-ta": "3", "Z": "z"])
  }
}
