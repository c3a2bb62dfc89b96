import SignetHTTPClient
import Testing

@Suite("Requests refused before they are sent", .timeLimit(.minutes(10)))
struct RequestTests {
  /// Uses an unreachable address: port 1 of this machine.
  private func failure(
    _ method: HTTPMethod = .post, url: String = "https://127.0.0.1:1/", headers: [(String, String)] = [],
    body: [UInt8] = []
  ) async throws -> TransportFailure? {
    let request = HTTPRequest(method: method, url: url, headers: headers, body: body)
    return await send(request, over: try CurlTransport()).failure
  }

  @Test("a valid request passes the check")
  func passes() async throws {
    #expect(try await failure(headers: [("X-A", "b c"), ("X-B", "")], body: [1]) == .unreachable(code: 7))
    #expect(try await failure(url: "HTTPS://127.0.0.1:1/a?b=c@d") == .unreachable(code: 7))
  }

  @Test(
    "a header's name",
    arguments: ["", "A B", "A\r\nB", "A\n", "A:", "A\0", "Ä", "A\u{7F}", "(A)", "A;", "@A"])
  func headerName(_ name: String) async throws {
    #expect(try await failure(headers: [(name, "x")]) == .invalidRequest(.headerName))
  }

  @Test(
    "a header's value",
    arguments: [
      "a\r\nX-B: c", "a\nb", "a\rb", "a\0b", "a\u{7F}", "ä", " a", "a ", "\ta", "a\u{2028}b",
      String(repeating: "a", count: 8193),
    ])
  func headerValue(_ value: String) async throws {
    #expect(try await failure(headers: [("X-A", value)]) == .invalidRequest(.headerValue))
  }

  @Test(
    "a header that frames the message",
    arguments: [
      "Host", "content-length", "Transfer-Encoding", "CONNECTION", "Cookie", "Expect", "Upgrade", "TE",
    ])
  func reserved(_ name: String) async throws {
    #expect(try await failure(headers: [(name, "1")]) == .invalidRequest(.reservedHeader))
  }

  @Test(
    "a URL that two parsers could read differently",
    arguments: [
      "https://127.0.0.1:1/a b", "https://127.0.0.1:1/\r\nX: y", "https://127.0.0.1:1/\0", "https://",
      "https:///", "https://?a", "https://127.0.0.1:1/#a", "https://127.0.0.1:1\\@b/", "https://ä.test/",
      "https://127.0.0.1:1/\u{7F}", "https://127.0.0.1:1/\t", "https://127.0.0.1:99999/",
      "https://127.0.0.1:1/" + String(repeating: "a", count: 2048), "https:///127.0.0.1:1/",
      "https://127.1:1/", "https://0x7f.1:1/", "https://127.0.0.%31:1/", "https://127.0.0.1:01/",
    ])
  func url(_ url: String) async throws {
    #expect(try await failure(url: url) == .invalidRequest(.url))
  }

  @Test(
    "a URL with a user", arguments: ["https://a@127.0.0.1:1/", "https://a:b@127.0.0.1:1/", "https://@b/"])
  func userInformation(_ url: String) async throws {
    #expect(try await failure(url: url) == .invalidRequest(.userInformation))
  }

  @Test("content with GET or HEAD", arguments: [HTTPMethod.get, .head])
  func unexpectedBody(_ method: HTTPMethod) async throws {
    #expect(try await failure(method, body: [1]) == .invalidRequest(.unexpectedBody))
  }

  @Test(
    "a setting out of range",
    arguments: [
      (ConnectionConfiguration(timeoutSeconds: -1), .timeout),
      (ConnectionConfiguration(timeoutSeconds: 86_401), .timeout),
      (ConnectionConfiguration(retries: -1), .retries),
      (ConnectionConfiguration(retries: 11), .retries),
      (ConnectionConfiguration(pins: [[]]), .pins),
      (ConnectionConfiguration(pins: [[UInt8](repeating: 1, count: 31)]), .pins),
      (ConnectionConfiguration(certificateAuthoritiesPEM: ""), .certificateAuthorities),
      (ConnectionConfiguration(maximumResponseByteCount: -1), .limits),
      (ConnectionConfiguration(maximumHeaderByteCount: 0), .limits),
      (ConnectionConfiguration(maximumConnections: 0), .limits),
      (connecting(to: "", 1), .connectAddress), (connecting(to: "localhost", 1), .connectAddress),
      (connecting(to: "127.0.0.1", 0), .connectAddress), (connecting(to: "[::1]", 1), .connectAddress),
      (connecting(to: String(repeating: "1", count: 46), 1), .connectAddress),
      (ConnectionConfiguration(proxy: .address("")), .proxy),
      (ConnectionConfiguration(proxy: .address("socks5://a:1")), .proxy),
      (ConnectionConfiguration(proxy: .address("http://a\0b")), .proxy),
    ] as [(ConnectionConfiguration, ConfigurationProblem)])
  func configuration(_ configuration: ConnectionConfiguration, _ problem: ConfigurationProblem) {
    #expect(throws: TransportFailure.invalidConfiguration(problem)) {
      try CurlTransport(configuration)
    }
  }

  @Test("a repeated field has no single value")
  func repeatedField() {
    let response = HTTPResponse(status: 200, headers: [("A", "1"), ("a", "2"), ("B", "3")])
    #expect(response.header("A") == nil)
    #expect(response.header("b") == "3")
  }
}

private func connecting(to address: String, _ port: UInt16) -> ConnectionConfiguration {
  var configuration = ConnectionConfiguration()
  configuration.connectAddress = ConnectAddress(address: address, port: port)
  return configuration
}
