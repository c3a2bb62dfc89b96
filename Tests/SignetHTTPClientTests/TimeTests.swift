import SignetHTTPClient
import Synchronization
import Testing

@Suite("Time limits, cancellation and retries", .timeLimit(.minutes(10)), .needsServer)
struct TimeTests {
  @Test("a server that never answers or never speaks TLS runs into the time limit", arguments: [false, true])
  func timeout(_ silent: Bool) async throws {
    let certificates = try Certificates.made()
    var setup = ServerSetup.tls(certificates.good)
    setup.silent = silent
    try await TestServer.run(setup) { server in
      let transport = try CurlTransport(
        ConnectionConfiguration(
          timeoutSeconds: 1, retries: 3, certificateAuthoritiesPEM: certificates.authority))
      let result = await send(HTTPRequest(url: server.url("/hang")), over: transport)
      #expect(result.failure == .timedOut)
      try await server.wait(for: "ended", 1)
      #expect(try await server.counts().accepts == 1)
    }
  }

  @Test("the time limit also covers waiting for a connection")
  func timeoutInQueue() async throws {
    try await TestServer.runGood { server, configuration in
      var configuration = configuration
      configuration.timeoutSeconds = 1
      configuration.maximumConnections = 1
      let transport = try CurlTransport(configuration)
      let url = server.url("/hang")
      async let first = send(HTTPRequest(url: url), over: transport)
      async let second = send(HTTPRequest(url: url), over: transport)
      let failures = [await first.failure, await second.failure]
      #expect(failures == [.timedOut, .timedOut])
    }
  }

  @Test("cancelling ends an exchange at once", arguments: [false, true])
  func cancellation(_ silent: Bool) async throws {
    let certificates = try Certificates.made()
    var setup = ServerSetup.tls(certificates.good)
    setup.silent = silent
    try await TestServer.run(setup) { server in
      let transport = try CurlTransport(
        ConnectionConfiguration(
          timeoutSeconds: 0, certificateAuthoritiesPEM: certificates.authority))
      let url = server.url("/hang")
      let task = Task { await send(HTTPRequest(url: url), over: transport) }
      try await server.wait(for: silent ? "accepts" : "requests", 1)
      task.cancel()
      #expect(await task.value.failure == .cancelled)
      try await server.wait(for: "ended", 1)
    }
  }

  @Test("a task that is cancelled beforehand connects to nothing")
  func cancelledBefore() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      let url = server.url("/echo")
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return await send(HTTPRequest(url: url), over: transport)
      }
      task.cancel()
      #expect(await task.value.failure == .cancelled)
      #expect(try await server.knock().accepts == 1, "only the knock itself arrived")
    }
  }

  @Test("fifty hanging requests, waiting ones included, are cancelled; the transport goes on")
  func fiftyCancelled() async throws {
    try await TestServer.runGood { server, configuration in
      var configuration = configuration
      configuration.timeoutSeconds = 0
      configuration.maximumConnections = 8
      let transport = try CurlTransport(configuration)
      let url = server.url("/hang")
      let tasks = (0..<50).map { _ in
        Task { await send(HTTPRequest(url: url), over: transport) }
      }
      try await server.wait(for: "requests", 8)
      for task in tasks { task.cancel() }
      for task in tasks { #expect(await task.value.failure == .cancelled) }
      #expect(try await transport.send(HTTPRequest(url: server.url("/echo"))).status == 200)
    }
  }

  @Test("cancelling gives the connection's place to a request that waits for one")
  func cancellationMakesRoom() async throws {
    try await TestServer.runGood { server, configuration in
      var configuration = configuration
      configuration.timeoutSeconds = 0
      configuration.maximumConnections = 1
      let transport = try CurlTransport(configuration)
      let (hanging, url) = (server.url("/hang"), server.url("/echo"))
      let first = Task { await send(HTTPRequest(url: hanging), over: transport) }
      try await server.wait(for: "requests", 1)
      let second = Task { await send(HTTPRequest(url: url), over: transport) }
      first.cancel()
      #expect(await first.value.failure == .cancelled)
      #expect(await second.value.failure == nil)
    }
  }

  @Test("cancelling at any moment gives the answer or a cancellation, once")
  func cancellationRace() async throws {
    try await TestServer.runGood { server, configuration in
      let transport = try CurlTransport(configuration)
      let url = server.url("/bytes/10")
      await withTaskGroup { group in
        for index in 0..<50 {
          group.addTask {
            let task = Task { await send(HTTPRequest(url: url), over: transport) }
            for _ in 0..<(index * 20) { await Task.yield() }
            task.cancel()
            return await task.value
          }
        }
        for await result in group {
          #expect(result.failure == nil || result.failure == .cancelled)
        }
      }
    }
  }

  @Test("a refused connection is tried again, as often as configured", arguments: [0, 1, 4])
  func retryCount(_ retries: Int) async throws {
    var setup = ServerSetup()
    setup.late = true
    try await TestServer.run(setup) { server in
      let pauses = Mutex<[Duration]>([])
      let transport = try CurlTransport(
        ConnectionConfiguration(retries: retries), systemRootsFolder: nil
      ) { pause in pauses.withLock { $0.append(pause) } }
      let result = await send(HTTPRequest(url: server.url("/echo")), over: transport)
      #expect(result.failure == .unreachable(code: 7))
      let expected: [Duration] = [100, 200, 400, 800].map { .milliseconds($0) }
      #expect(pauses.withLock { $0 } == Array(expected.prefix(retries)))
    }
  }

  @Test("the attempt that connects is the last")
  func retryThatWorks() async throws {
    let certificates = try Certificates.made()
    var setup = ServerSetup.tls(certificates.good)
    setup.late = true
    try await TestServer.run(setup) { server in
      let pauses = Mutex(0)
      let transport = try CurlTransport(
        ConnectionConfiguration(retries: 10, certificateAuthoritiesPEM: certificates.authority),
        systemRootsFolder: nil
      ) { _ in
        let count = pauses.withLock {
          $0 += 1; return $0
        }
        guard count == 2 else { return }
        do { try await server.listen() } catch { Issue.record(error) }
      }
      let result = await send(HTTPRequest(url: server.url("/echo")), over: transport)
      #expect(result.failure == nil)
      #expect(pauses.withLock { $0 } == 2)
      #expect(try await server.counts().requests == 1)
    }
  }

  @Test("a refused certificate is not tried again")
  func noRetryAfterTLS() async throws {
    let certificates = try Certificates.made()
    try await TestServer.run(.tls(certificates.good)) { server in
      let transport = try CurlTransport(
        ConnectionConfiguration(retries: 3, certificateAuthoritiesPEM: certificates.otherAuthority),
        systemRootsFolder: nil
      ) { _ in Issue.record("tried again") }
      let result = await send(HTTPRequest(url: server.url("/echo")), over: transport)
      #expect(result.failure == .certificateRefused(.unknownIssuer))
      #expect(try await server.counts().accepts == 1)
    }
  }

  @Test("cancelling between two attempts")
  func cancelledPause() async throws {
    var setup = ServerSetup()
    setup.late = true
    try await TestServer.run(setup) { server in
      let transport = try CurlTransport(
        ConnectionConfiguration(retries: 3), systemRootsFolder: nil
      ) { (_) async throws(CancellationError) in throw CancellationError() }
      let result = await send(HTTPRequest(url: server.url("/echo")), over: transport)
      #expect(result.failure == .cancelled)
    }
  }

  @Test("a name that does not exist")
  func unknownName() async throws {
    let transport = try CurlTransport()
    let result = await send(HTTPRequest(url: "https://nobody.invalid/"), over: transport)
    #expect(result.failure == .unreachable(code: 6))
  }
}
