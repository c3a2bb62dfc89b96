import SignetHTTPClient
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("Proxies", .timeLimit(.minutes(10)), .needsServer)
struct ProxyTests {
  @Test("a configured proxy tunnels; its own answer is not the server's")
  func tunnel() async throws {
    var setup = ServerSetup()
    setup.tunnel = true
    try await TestServer.run(setup) { proxy in
      try await TestServer.runGood { server, configuration in
        var configuration = configuration
        configuration.proxy = .address("http://127.0.0.1:\(proxy.port)")
        let transport = try CurlTransport(configuration)
        let response = try await transport.send(
          HTTPRequest(method: .post, url: server.url("/echo"), headers: [("X-Secret", "s")]))
        #expect(response.header("X-One") == "1")
        #expect(response.header("X-Proxy") == nil)
        #expect(try await proxy.counts().requests == 1)
      }
    }
  }

  @Test("the environment's proxy is used only where configured")
  func environment() async throws {
    try await TestServer.runGood { server, configuration in
      let url = server.url("/echo")
      let pem = configuration.certificateAuthoritiesPEM
      // In a separate process, since the environment is shared.
      await #expect(processExitsWith: .success) { [url = url as String, pem = pem as String?] in
        setenv("https_proxy", "http://127.0.0.1:1", 1)
        unsetenv("no_proxy")
        unsetenv("NO_PROXY")
        var configuration = ConnectionConfiguration(certificateAuthoritiesPEM: pem)
        let direct = try CurlTransport(configuration)
        #expect(try await direct.send(HTTPRequest(url: url)).status == 200)
        configuration.proxy = .environment
        let indirect = try CurlTransport(configuration)
        let result = await send(HTTPRequest(url: url), over: indirect)
        #expect(result.failure == .unreachable(code: 7))
      }
    }
  }
}
