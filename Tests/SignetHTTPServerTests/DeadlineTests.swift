import SignetHTTPServer
import SignetTestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct DeadlineTests {
  private let ok: ServerHandler = { _ in ServerResponse(status: 200) }

  @Test("a connection without a byte is closed after the idle timeout, before and after a request")
  func idle() async throws {
    try await withServer(limits: limits { $0.idleTimeout = .seconds(1) }, handler: ok) { port in
      try await blocking {
        #expect(try RawClient(port).receiveAll().isEmpty)
        // libmicrohttpd's time-out uses the system's clock: a machine that stops for a second may lose the request, so it is
        // repeated.
        while true {
          let client = try RawClient(port)
          do {
            #expect(try client.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
          } catch RawClient.Failure.notAResponse { continue }
          #expect(client.receiveAll().isEmpty)
          return
        }
      }
    }
  }

  @Test(
    "bytes that trickle in do not move the deadline of a request",
    arguments: [
      "", "GET / HTTP/1.1\r\nHost: h\r\nX-A: ", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999\r\n\r\n",
    ])
  func slowRequest(_ beginning: String) async throws {
    let recorder = Recorder()
    let timer = VirtualTimer()
    let bounds = limits { ($0.requestDeadline, $0.idleTimeout) = (.seconds(1), .seconds(3_600)) }
    try await withServer(limits: bounds, clock: timer, handler: recorder.handler) { port in
      let said = try await blocking {
        let client = try RawClient(port)
        client.send(beginning)
        while !client.isReadable(milliseconds: 50), client.send("a") {
          timer.advance(by: .milliseconds(100))
        }
        return client.receiveAll()
      }
      #expect(said.isEmpty)
      #expect(timer.now.offset >= .seconds(1), "not before its time")
    }
    #expect(recorder.all.isEmpty)
  }

  @Test("the deadline begins anew with each request on a connection")
  func deadlineIsPerRequest() async throws {
    let timer = VirtualTimer()
    let bounds = limits { ($0.requestDeadline, $0.idleTimeout) = (.seconds(3), .seconds(3_600)) }
    try await withServer(limits: bounds, clock: timer, handler: ok) { port in
      try await blocking {
        let client = try RawClient(port)
        for _ in 0..<8 {
          #expect(try client.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
          timer.advance(by: .seconds(2))
          #expect(!client.isReadable(milliseconds: 500))
        }
      }
    }
  }

  @Test("a handler past its deadline is cancelled, and its client gets an error")
  func slowHandler() async throws {
    let wasCancelled = Gate()
    let neverOpened = Gate()
    let timer = VirtualTimer()
    let bounds = limits { $0.handlerDeadline = .seconds(3) }
    try await withServer(
      limits: bounds, clock: timer,
      handler: { request in
        timer.advance(by: .seconds(3))
        if request.path.raw == "/deaf" {
          await neverOpened.wait()
        } else {
          await untilCancelled()
          await wasCancelled.open()
        }
        return ServerResponse(status: 200)
      }
    ) { port in
      let statuses = try await blocking {
        let client = try RawClient(port)
        return [
          try client.ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n").status,
          try client.ask("GET /deaf HTTP/1.1\r\nHost: h\r\n\r\n").status,
        ]
      }
      #expect(statuses == [503, 503])
      await wasCancelled.wait()
      await neverOpened.open()  // the late answer has no receiver
    }
  }

  @Test("a client that leaves cancels its handler", arguments: [false, true])
  func desertedHandler(_ resets: Bool) async throws {
    let arrived = Gate()
    let wasCancelled = Gate()
    try await withServer(handler: { _ in
      await arrived.open()
      await untilCancelled()
      await wasCancelled.open()
      return ServerResponse(status: 200)
    }) { port in
      let client = try await blocking {
        let client = try RawClient(port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return client
      }
      await arrived.wait()
      if resets { client.resetOnClose() }
      _ = consume client
      await wasCancelled.wait()
    }
  }

  @Test("a client that closes its sending side has disconnected: its handler is cancelled without a response")
  func halfClosedClient() async throws {
    let arrived = Gate()
    let wasCancelled = Gate()
    try await withServer(handler: { _ in
      await arrived.open()
      await untilCancelled()
      await wasCancelled.open()
      return ServerResponse(status: 200)
    }) { port in
      let client = try await blocking {
        let client = try RawClient(port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return client
      }
      await arrived.wait()
      client.finishSending()
      await wasCancelled.wait()
      let end = try await blocking { client.receiveAll() }
      #expect(end.isEmpty)
    }
  }

  @Test("a client that reads too slowly is cut off")
  func slowReader() async throws {
    let timer = VirtualTimer()
    let bounds = limits { $0.responseDeadline = .seconds(1) }
    let body = [UInt8](repeating: 0x61, count: 64 << 20)
    try await withServer(
      limits: bounds, clock: timer, handler: { _ in ServerResponse(status: 200, body: body) }
    ) { port in
      let received = try await blocking {
        let client = try RawClient(port, receiveBuffer: 16384)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        var received = 0
        while true {
          let more = client.receive(65536)
          if more.isEmpty { return received }
          received += more.count
          timer.advance(by: .milliseconds(50))
          _ = client.isPaused(milliseconds: 30)
        }
      }
      #expect(received < body.count)
    }
  }
}
