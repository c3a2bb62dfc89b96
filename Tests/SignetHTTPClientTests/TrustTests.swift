import SignetHTTPClient
import Testing

@Suite("Server certificates and trust", .timeLimit(.minutes(10)), .needsServer)
struct TrustTests {
  /// Sends one request to a server with this setup.
  private func send(
    _ setup: ServerSetup, _ configuration: ConnectionConfiguration, roots: String? = nil
  ) async throws -> (Result<HTTPResponse, TransportFailure>, TestServer.Counts) {
    try await TestServer.run(setup) { server in
      let transport = try CurlTransport(configuration, systemRootsFolder: roots) { _ in }
      let result = await outcome { () async throws(TransportFailure) in
        try await transport.send(HTTPRequest(url: server.url("/echo")))
      }
      return (result, try await server.counts())
    }
  }

  private func failure(
    _ setup: ServerSetup, _ configuration: ConnectionConfiguration, roots: String? = nil
  ) async throws -> TransportFailure? {
    let (result, counts) = try await send(setup, configuration, roots: roots)
    #expect(counts.accepts == 1, "the server was reached")
    #expect(counts.requests == 0, "no request was sent")
    return result.failure
  }

  @Test("a custom authority and the right pin")
  func rightPin() async throws {
    let certificates = try Certificates.made()
    let configuration = ConnectionConfiguration(
      pins: [certificates.good.pin], certificateAuthoritiesPEM: certificates.authority)
    let (result, counts) = try await send(.tls(certificates.good), configuration)
    #expect(try result.get().status == 200)
    #expect(counts.requests == 1)
  }

  @Test("one of two pins, in either place")
  func oneOfTwoPins() async throws {
    let certificates = try Certificates.made()
    for pins in [
      [certificates.good.pin, certificates.rsa.pin], [certificates.rsa.pin, certificates.good.pin],
    ] {
      let configuration = ConnectionConfiguration(
        pins: pins, certificateAuthoritiesPEM: certificates.authority)
      let (result, _) = try await send(.tls(certificates.good), configuration)
      #expect(try result.get().status == 200)
    }
  }

  @Test("a wrong pin is refused before the request")
  func wrongPin() async throws {
    let certificates = try Certificates.made()
    let configuration = ConnectionConfiguration(
      pins: [certificates.rsa.pin], certificateAuthoritiesPEM: certificates.authority)
    #expect(try await failure(.tls(certificates.good), configuration) == .wrongPin)
  }

  @Test("a pin does not replace the chain")
  func pinWithoutChain() async throws {
    let certificates = try Certificates.made()
    let configuration = ConnectionConfiguration(
      pins: [certificates.good.pin], certificateAuthoritiesPEM: certificates.otherAuthority)
    #expect(
      try await failure(.tls(certificates.good), configuration) == .certificateRefused(.unknownIssuer))
  }

  @Test("the system's roots do not know a private authority")
  func systemRoots() async throws {
    let certificates = try Certificates.made()
    #expect(
      try await failure(.tls(certificates.good), ConnectionConfiguration())
        == .certificateRefused(.unknownIssuer))
  }

  @Test("custom authorities replace the system's roots, they do not join them")
  func customReplacesSystem() async throws {
    let certificates = try Certificates.made()
    let setup = ServerSetup.tls(certificates.good)
    let (result, _) = try await send(
      setup, ConnectionConfiguration(), roots: certificates.rootsFolder)
    #expect(try result.get().status == 200, "the folder stands in for the system's roots")
    let custom = ConnectionConfiguration(certificateAuthoritiesPEM: certificates.otherAuthority)
    #expect(
      try await failure(setup, custom, roots: certificates.rootsFolder)
        == .certificateRefused(.unknownIssuer))
  }

  @Test("a certificate for another name")
  func wrongName() async throws {
    let certificates = try Certificates.made()
    let configuration = ConnectionConfiguration(
      pins: [certificates.wrongName.pin], certificateAuthoritiesPEM: certificates.authority)
    #expect(
      try await failure(.tls(certificates.wrongName), configuration) == .certificateRefused(.nameMismatch))
  }

  @Test("an expired certificate")
  func expired() async throws {
    let certificates = try Certificates.made()
    let configuration = ConnectionConfiguration(certificateAuthoritiesPEM: certificates.authority)
    #expect(try await failure(.tls(certificates.expired), configuration) == .certificateRefused(.expired))
  }

  @Test("PEM without a readable certificate is not 'trust the system'")
  func unreadableAuthorities() async throws {
    let certificates = try Certificates.made()
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    let (result, counts) = try await send(
      .tls(certificates.good), ConnectionConfiguration(certificateAuthoritiesPEM: pem),
      roots: certificates.rootsFolder)
    #expect(result.failure == .invalidConfiguration(.certificateAuthorities))
    #expect(counts.requests == 0)
  }

  /// The only protocol version and ciphers of a server, and what a client that accepts everything agrees on.
  struct WeakServer: Sendable {
    var version = "TLSv1_2"
    let ciphers: String
    var usesRSA = false
    let agreed: String
  }

  @Test(
    "a server without TLS 1.2, forward secrecy or AEAD is refused",
    arguments: [
      WeakServer(version: "TLSv1_1", ciphers: "ALL:@SECLEVEL=0", agreed: "TLSv1.1"),
      WeakServer(ciphers: "ECDHE-ECDSA-AES128-SHA256", agreed: "TLSv1.2 ECDHE-ECDSA-AES128-SHA256"),
      WeakServer(ciphers: "ECDHE-ECDSA-AES128-CCM", agreed: "TLSv1.2 ECDHE-ECDSA-AES128-CCM"),
      WeakServer(ciphers: "AES128-GCM-SHA256", usesRSA: true, agreed: "TLSv1.2 AES128-GCM-SHA256"),
    ])
  func weakTLS(_ weak: WeakServer) async throws {
    let certificates = try Certificates.made()
    var setup = ServerSetup.tls(weak.usesRSA ? certificates.rsa : certificates.good)
    setup.version = weak.version
    setup.ciphers = weak.ciphers
    let configuration = ConnectionConfiguration(certificateAuthoritiesPEM: certificates.authority)
    try await TestServer.run(setup) { server in
      #expect(try await server.check().hasPrefix(weak.agreed), "the server itself works")
      let transport = try CurlTransport(configuration)
      let result = await outcome { () async throws(TransportFailure) in
        try await transport.send(HTTPRequest(url: server.url("/echo")))
      }
      guard case .tlsRefused = result.failure else {
        Issue.record("\(result)")
        return
      }
      #expect(try await server.counts().requests == 0)
    }
  }

  @Test(
    "TLS 1.2 with a good suite",
    arguments: ["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"])
  func tls12(_ suite: String) async throws {
    let certificates = try Certificates.made()
    var setup = ServerSetup.tls(certificates.good)
    setup.version = "TLSv1_2"
    setup.ciphers = suite
    let configuration = ConnectionConfiguration(certificateAuthoritiesPEM: certificates.authority)
    let (result, _) = try await send(setup, configuration)
    #expect(try result.get().status == 200)
  }
}
