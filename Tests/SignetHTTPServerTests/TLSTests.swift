import Foundation
import SignetHTTPServer
import SignetTestKit
import Testing

/// Command-line clients with other TLS implementations than the server's.
enum Command {
  struct Failed: Error, Equatable { let status: Int32 }

  /// Indicates whether the tests run; without the program they are skipped, but fail in CI.
  static func isWanted(_ name: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") || ContinuousIntegration.isHere
  }

  /// Returns the standard output of a program that must succeed.
  static func run(_ name: String, _ arguments: String...) async throws -> String {
    try await runList(name, arguments)
  }

  /// The same with data on standard input.
  static func runList(_ name: String, _ arguments: [String], input: Data = Data()) async throws -> String {
    let result = try await ChildCommand(["/usr/bin/\(name)"] + arguments, input: .bytes(Array(input)))
      .finish()
    guard result.status == 0 else { throw Failed(status: result.status) }
    return result.output
  }
}

@Suite(.timeLimit(.minutes(10)), .enabled(if: Command.isWanted("curl"), "curl is the TLS client here"))
struct TLSTests {
  @discardableResult
  private func withTLSServer<R>(
    limits: ServerLimits = ServerLimits(), clock: any Clock<Duration> = ContinuousClock(),
    handler: @escaping ServerHandler = { ServerResponse(status: 200, body: $0.body) },
    _ body: (_ port: UInt16, _ authority: String) async throws -> R
  ) async throws -> R {
    let authority = FileManager.default.temporaryDirectory.appending(
      path: "signet-http-\(UUID().uuidString).pem")
    try TestIdentity.certificate.write(to: authority, atomically: true, encoding: .utf8)
    // A leftover in the temporary folder is harmless.
    defer { try? FileManager.default.removeItem(at: authority) }
    return try await withServer(
      limits: limits, security: .tls(TestIdentity.make()), clock: clock, handler: handler
    ) { port in
      try await body(port, authority.path)
    }
  }

  @Test("TLS 1.3 and 1.2 carry requests, also to handlers that suspend", arguments: ["1.2", "1.3"])
  func versions(_ version: String) async throws {
    try await withTLSServer(handler: { request in
      await Task.yield()
      try? await Task.sleep(for: .milliseconds(1))  // suspends; the length does not matter
      return ServerResponse(status: 200, body: request.body)
    }) { port, authority in
      let output = try await Command.run(
        "curl", "-sS", "--tlsv\(version)", "--tls-max", version, "--cacert", authority, "--data", "through",
        "https://localhost:\(port)/")
      #expect(output == "through")
    }
  }

  @Test(
    "each suite offered is forward-secret and authenticated",
    arguments: [
      "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
    ])
  func suite(_ suite: String) async throws {
    try await withTLSServer { port, authority in
      let output = try await Command.run(
        "curl", "-sS", "--tls-max", "1.2", "--ciphers", suite, "--cacert", authority, "--data", "through",
        "https://localhost:\(port)/")
      #expect(output == "through")
    }
  }

  @Test(
    "older versions and other suites are refused",
    arguments: [
      ["--tls-max", "1.0", "--tlsv1.0", "--ciphers", "DEFAULT@SECLEVEL=0"],
      ["--tls-max", "1.1", "--tlsv1.1", "--ciphers", "DEFAULT@SECLEVEL=0"],
      ["--tls-max", "1.2", "--ciphers", "ECDHE-ECDSA-AES128-SHA256"],
      ["--tls-max", "1.2", "--ciphers", "ECDHE-ECDSA-AES256-SHA"],
      ["--tls-max", "1.2", "--ciphers", "ECDHE-ECDSA-AES128-CCM"],
      ["--tls-max", "1.2", "--ciphers", "AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256"],
    ])
  func refusedHandshake(_ options: [String]) async throws {
    try await withTLSServer { port, authority in
      await #expect(throws: Command.Failed(status: 35)) {  // CURLE_SSL_CONNECT_ERROR
        try await Command.runList(
          "curl", options + ["-sS", "--cacert", authority, "https://localhost:\(port)/"])
      }
    }
  }

  @Test(
    "a body beyond the limit, and one in chunks, is refused inside TLS",
    arguments: [([], 100_000, "413"), (["-H", "Transfer-Encoding: chunked"], 10, "411")])
  func bodyIsRefused(_ framing: [String], _ byteCount: Int, _ status: String) async throws {
    try await withTLSServer(limits: limits { $0.bodyByteCount = 1000 }) { port, authority in
      let output = try await Command.runList(
        "curl",
        framing + [
          "-sS", "-H", "Expect:", "--cacert", authority, "--data-binary", "@-", "-o", "/dev/null", "-w",
          "%{http_code}",
          "https://localhost:\(port)/",
        ], input: Data(repeating: 0x61, count: byteCount))
      #expect(output == status)
    }
  }

  @Test(
    "a wrong length gets one answer inside TLS, and closes",
    arguments: ["2, 2", "+2", "-1", "18446744073709551618"])
  func wrongLength(_ length: String) async throws {
    try await withTLSServer { port, authority in
      let output = try await Command.runList(
        "curl",
        [
          "-sS", "-i", "-H", "Expect:", "-H", "Content-Length: \(length)", "--cacert", authority,
          "--data-binary", "ab",
          "https://localhost:\(port)/",
        ])
      #expect(output.hasPrefix("HTTP/1.1 400 "), "\(output)")
      #expect(output.ranges(of: "HTTP/1.1 ").count == 1, "\(output)")
    }
  }

  @Test("a new identity applies to new connections; a waiting request is still answered")
  func replacesIdentity() async throws {
    let authority = FileManager.default.temporaryDirectory.appending(
      path: "signet-http-\(UUID().uuidString).pem")
    try TestIdentity.certificate.write(to: authority, atomically: true, encoding: .utf8)
    // A leftover in the temporary folder is harmless.
    defer { try? FileManager.default.removeItem(at: authority) }
    let (arrived, gate) = (Gate(), Gate())
    let server = try HTTPServer(
      HTTPServerConfiguration(security: .tls(TestIdentity.make()), threadCount: 2),
      handler: { request in
        if request.path.raw == "/slow" {
          await arrived.open()
          await gate.wait()
        }
        return ServerResponse(status: 200, body: Array(request.path.raw.utf8))
      })
    let port = try server.start()
    let path = authority.path
    async let slow = Command.run("curl", "-sS", "--cacert", path, "https://localhost:\(port)/slow")
    await arrived.wait()
    for number in 0..<20 {
      try server.replaceIdentity(TestIdentity.make())
      let output = try await Command.run(
        "curl", "-sS", "--cacert", path, "https://localhost:\(port)/\(number)")
      #expect(output == "/\(number)")
    }
    await gate.open()
    #expect(try await slow == "/slow")
    await server.stop(grace: .seconds(10))
    // Too late, and harmless.
    try server.replaceIdentity(TestIdentity.make())
  }

  @Test("a plaintext request to a TLS port gets no answer")
  func plaintext() async throws {
    try await withTLSServer { port, _ in
      let answer = try await blocking {
        let client = try RawClient(port)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        return String(decoding: client.receiveAll(), as: UTF8.self)
      }
      #expect(!answer.contains("HTTP"))
    }
  }

  @Test("a stalled handshake ends at the deadline")
  func stalledHandshake() async throws {
    let timer = VirtualTimer()
    let bounds = limits { ($0.requestDeadline, $0.idleTimeout) = (.seconds(1), .seconds(3_600)) }
    try await withTLSServer(limits: bounds, clock: timer) { port, _ in
      try await blocking {
        let client = try RawClient(port)
        client.send([0x16, 0x03, 0x01, 0x02, 0x00])  // the header of a record of 512 bytes
        while !client.isReadable(milliseconds: 50), client.send([0x01]) {
          timer.advance(by: .milliseconds(100))
        }
      }
      #expect(timer.now.offset >= .seconds(1), "not before its time")
    }
  }

  @Test("stop lets a request over TLS finish")
  func stop() async throws {
    let arrived = Gate()
    let gate = Gate()
    let server = try HTTPServer(
      HTTPServerConfiguration(security: .tls(TestIdentity.make())), clock: VirtualTimer()
    ) { _ in
      await arrived.open()
      await gate.wait()
      return ServerResponse(status: 200, body: Array("done".utf8))
    }
    let port = try server.start()
    async let output = Command.run("curl", "-sS", "--insecure", "https://localhost:\(port)/")
    await arrived.wait()
    async let stop: Void = server.stop(grace: .seconds(60))
    await gate.open()
    #expect(try await output == "done")
    await stop
  }
}

@Suite(.timeLimit(.minutes(10))) struct IdentityTests {
  @Test("a missing key and another certificate's key are refused")
  func mismatch() {
    for (chain, key) in [
      (TestIdentity.certificate, "x"), ("x", TestIdentity.privateKey), ("", ""),
      (TestIdentity.privateKey, TestIdentity.certificate),
      (TestIdentity.certificate, TestIdentity.otherPrivateKey),
    ] {
      #expect {
        try TLSIdentity(certificateChainPEM: chain, privateKeyPEM: Array(key.utf8))
      } throws: { error in
        if case .certificateRefused? = error as? ServerFailure { true } else { false }
      }
    }
  }

  @Test("plaintext is for loopback only, and addresses are numeric")
  func addresses() throws {
    for address in ["0.0.0.0", "192.0.2.1", "::", "::ffff:127.0.0.1", "2001:db8::1"] {
      #expect(throws: ServerFailure.plaintextBeyondLoopback(address)) {
        try HTTPServer(HTTPServerConfiguration(address: address, security: .insecurePlaintext)) { _ in
          ServerResponse(status: 200)
        }
      }
    }
    for address in ["localhost", "", "127.0.0.1:80", "1.2.3", "[::1]"] {
      #expect(throws: ServerFailure.invalidAddress(address)) {
        try HTTPServer(HTTPServerConfiguration(address: address, security: .insecurePlaintext)) { _ in
          ServerResponse(status: 200)
        }
      }
    }
    for address in ["127.0.0.1", "127.9.9.9", "::1"] {
      _ = try HTTPServer(HTTPServerConfiguration(address: address, security: .insecurePlaintext)) { _ in
        ServerResponse(status: 200)
      }
    }
  }
}
