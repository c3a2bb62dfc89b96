import Foundation
import SignetHTTPClient
import SignetJSON
import SignetTestKit
import Testing

/// `signet-server serve`: readiness, two servers on one folder, and shutdown.
@Suite(.timeLimit(.minutes(10)), .serialized) struct ServerCommandServeTests {
  @Test func servesWithTheCertificateOfItsFolder() async throws {
    let server = try await RunningServer.start()
    let authority = try String(contentsOfFile: "\(server.data)/ca.pem", encoding: .utf8)
    let transport = try CurlTransport(ConnectionConfiguration(certificateAuthoritiesPEM: authority))
    let response = try await transport.send(HTTPRequest(url: "https://\(server.url)/v1/live"))
    #expect(response.status == 200)
    let answer = try JSONObject(parsing: response.body)
    #expect(try answer.string("status") == "live")
    let stranger = try CurlTransport()
    await #expect(throws: TransportFailure.certificateRefused(.unknownIssuer)) {
      try await stranger.send(HTTPRequest(url: "https://\(server.url)/v1/live"))
    }
    await server.stop()
    for line in server.events.split(separator: "\n") {
      let event = try JSONObject(parsing: Array(line.utf8))
      #expect(try event.integer("time") > 0)
      #expect(["info", "error"].contains(try event.string("level")))
    }
    #expect(server.events.contains("server.stopped"))
  }

  @Test func refusesATakenPortClearly() async throws {
    let server = try await RunningServer.start()
    let other = "\(server.folder.path)/other"
    let made = try await ServerCommand.run("init", "--data", other, "--url", server.url)
    #expect(made.status == 0, made.summary)
    let second = try await ServerCommand.run("serve", "--data", other)
    #expect(second.status == 69)
    #expect(second.output.isEmpty)
    #expect(
      second.errorOutput.contains("cannot listen on 127.0.0.1:\(server.port): another program listens there"))
    await server.stop()
  }

  @Test func twoProcessesServeOneFolder() async throws {
    let memory = try MemoryFolder()
    let first = try await RunningServer.start { $1["runtime"] = .string(memory.path) }
    let port = try FreePort.find()
    let second = try await RunningServer(first.folder, port, ["--listen", "127.0.0.1:\(port)"])
    _ = try await first.json("user", "add", "alice")
    let listed = try await ServerCommand.run(
      "user", "list", "--server", "127.0.0.1:\(port)/main", "--ca", "\(first.data)/ca.pem", "--key-file",
      "\(first.data)/admin.key", "--json")
    #expect(listed.status == 0, "\(listed.errorOutput)")
    #expect(listed.output.contains("\"alice\""))
    // Both write to one audit log, which stays a single chain.
    let written = try await withThrowingTaskGroup(of: Int32.self) { group in
      for number in 0..<8 {
        let server = number.isMultiple(of: 2) ? first.url : "127.0.0.1:\(port)/main"
        group.addTask {
          try await ServerCommand.run(
            "user", "add", "user-\(number)", "--server", server, "--ca", "\(first.data)/ca.pem", "--key-file",
            "\(first.data)/admin.key"
          ).status
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(written.allSatisfy { $0 == 0 })
    let report = try await first.json("audit", "verify")
    #expect(report["intact"] == true)
    #expect(report["entries"] == 10)
    await first.stop()
    await second.stop()
    withExtendedLifetime(memory) {}
  }

  @Test(
    .enabled(if: OpenSSLClient.isWanted, "needs the openssl program"), arguments: [SIGTERM, SIGINT, SIGQUIT])
  func finishesRequestsInFlight(signal: Int32) async throws {
    let server = try await RunningServer.start()
    let client = try await OpenSSLClient.withRequestBegun(server)
    server.send(signal)
    try await server.waitUntilItAcceptsNoMore()
    // A request that began before the shutdown is still answered.
    let answer = try await client.finish()
    #expect(answer.hasPrefix("HTTP/1.1 201 "), "\(answer)")
    #expect(await server.status() == 0)
    #expect(server.events.contains("\"status\":\"201\""))
  }

  @Test(.enabled(if: OpenSSLClient.isWanted, "needs the openssl program"))
  func endsAtOnceWithTheSecondSignal() async throws {
    let server = try await RunningServer.start()
    let client = try await OpenSSLClient.withRequestBegun(server)
    server.send(SIGTERM)
    try await server.waitUntilItAcceptsNoMore()
    server.send(SIGTERM)
    #expect(await server.status() == 128 + SIGTERM)
    client.stop()
    // All acknowledged data exists, and the database is intact.
    #expect(try await server.json("audit", "verify")["intact"] == true)
  }

  @Test("unrelated signals do not end the server")
  func ignoresSignals() async throws {
    let server = try await RunningServer.start()
    for signal in [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGIO, SIGPIPE] { server.send(signal) }
    #expect(try await APIClient(server).send(.get, "live").status == 200)
    await server.stop()
    #expect(server.events.contains("\"event\":\"server.stopped\""))
  }

  @Test func survivesBeingKilled() async throws {
    let server = try await RunningServer.start()
    _ = try await server.json("user", "add", "alice")
    server.send(SIGKILL)
    #expect(await server.status() == -SIGKILL)
    #expect(try await server.json("audit", "verify")["entries"] == 2)
    let again = try await RunningServer(server.folder, server.port)
    #expect(try await again.run("user", "list").output.contains("alice"))
    await again.stop()
  }

  @Test func refusesAFolderThatIsOpenToOthers() async throws {
    let server = try await RunningServer.start()
    await server.stop()
    #expect(chmod("\(server.data)/tls.key", 0o644) == 0)
    let refused = try await server.run("serve")
    #expect(refused.status == 77)
    #expect(refused.errorOutput.contains("other users have access to"))
    let missing = try await ServerCommand.run("serve", "--data", "\(server.folder.path)/none")
    #expect(missing.status == 66)
    #expect(missing.errorOutput.contains("make one with 'signet-server init'"))
  }
}

extension RunningServer {
  /// Returns when nothing listens on the port any more.
  fileprivate func waitUntilItAcceptsNoMore() async throws {
    while try Self.canConnect(to: port) { try await Task.sleep(for: .milliseconds(5)) }
  }

  private static func canConnect(to port: UInt16) throws -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

/// `openssl s_client`: a client that can pause in the middle of a request.
final class OpenSSLClient: Sendable {
  private static let path = "/usr/bin/openssl"
  /// Indicates whether the tests run; without the program they are skipped, but fail in CI.
  static var isWanted: Bool {
    FileManager.default.isExecutableFile(atPath: path) || ContinuousIntegration.isHere
  }

  private static let body = #"{"user":"in flight"}"#
  private let process: ChildProcess

  private init(_ server: RunningServer) throws {
    process = try ChildCommand(
      [
        Self.path, "s_client", "-quiet", "-verify_return_error", "-CAfile", "\(server.data)/ca.pem",
        "-connect",
        "127.0.0.1:\(server.port)",
      ], input: .pipe, output: .pipe
    ).start()
  }

  /// Sends the head of a request, and returns when the server has asked for its body (RFC 9110 section 10.1.1).
  static func withRequestBegun(_ server: RunningServer) async throws -> OpenSSLClient {
    let client = try OpenSSLClient(server)
    let key = try String(contentsOfFile: "\(server.data)/admin.key", encoding: .utf8).prefix { $0 != "\n" }
    let head = [
      "POST /main/v1/admin/users HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer \(key)",
      "Content-Type: application/json", "Content-Length: \(body.utf8.count)", "Expect: 100-continue", "", "",
    ]
    try client.process.input.write(contentsOf: Data(head.joined(separator: "\r\n").utf8))
    let end = Array("\r\n\r\n".utf8)
    let answer = await client.process.output.text { $0.suffix(4) == end[...] ? $0.count : nil }
    try #require(answer?.hasPrefix("HTTP/1.1 100 ") == true, "\(answer ?? "nothing")")
    return client
  }

  /// Sends the body and returns the head of the answer.
  func finish() async throws -> String {
    try process.input.write(contentsOf: Data(Self.body.utf8))
    let end = Array("\r\n\r\n".utf8)
    let answer = await process.output.text { $0.suffix(4) == end[...] ? $0.count : nil }
    stop()
    return answer ?? ""
  }

  func stop() { process.send(SIGTERM) }
}
