import Dispatch
import Foundation
import SignetHTTPClient
import SignetTestKit
import Testing

/// The behavior of a test's server.
struct ServerSetup: Encodable, Sendable {
  /// `nil` for a server without TLS.
  var certificate: String?
  var key: String?
  /// The only version, as Python's `ssl.TLSVersion` names it; TLS 1.2 and 1.3 by default.
  var version: String?
  var ciphers: String?
  /// Accepts connections and never sends anything.
  var silent = false
  /// A proxy that opens tunnels.
  var tunnel = false
  /// Has a port, but refuses connections until the order to listen.
  var late = false

  /// TLS with this certificate.
  static func tls(_ server: Certificates.Server) -> ServerSetup {
    ServerSetup(certificate: server.certificatePath, key: server.keyPath)
  }
}

/// A server of the tests in a separate process, on 127.0.0.1 and a free port.
final class TestServer: Sendable {
  /// The events so far.
  struct Counts: Decodable, Sendable, Equatable {
    var accepts: Int
    var handshakes: Int
    /// Handshakes and connections that broke.
    var refusals: Int
    var requests: Int
    /// Connections that have ended.
    var ended: Int
  }

  let port: Int
  private let channel: Channel

  /// Runs `body` with a server that ends with it.
  static func run<R>(
    _ setup: ServerSetup, _ body: (TestServer) async throws -> R
  ) async throws -> R {
    let server = try await TestServer(setup)
    do {
      let result = try await body(server)
      await server.channel.close()
      return result
    } catch {
      await server.channel.close()
      throw error
    }
  }

  /// Runs `body` with a server that has a valid certificate, and a configuration that trusts it.
  static func runGood<R>(
    _ body: (TestServer, ConnectionConfiguration) async throws -> R
  ) async throws -> R {
    let certificates = try Certificates.made()
    return try await run(.tls(certificates.good)) { server in
      try await body(server, ConnectionConfiguration(certificateAuthoritiesPEM: certificates.authority))
    }
  }

  /// A server with a valid certificate for all cases of one test, since each start takes a tenth of a second of a processor.
  ///
  /// The cases run one after the other and count from the previous values. It ends with this process.
  struct Shared: Sendable {
    private let made = Task {
      let certificates = try Certificates.made()
      return (
        server: try await TestServer(.tls(certificates.good)),
        configuration: ConnectionConfiguration(certificateAuthoritiesPEM: certificates.authority)
      )
    }

    func run<R>(_ body: (TestServer, ConnectionConfiguration) async throws -> R) async throws -> R {
      let made = try await made.value
      return try await body(made.server, made.configuration)
    }
  }

  private init(_ setup: ServerSetup) async throws {
    let json = String(decoding: try JSONEncoder().encode(setup), as: UTF8.self)
    // Without the site packages, which the script does not need.
    channel = try Channel(["-I", "-S", "-c", serverScript, json])
    struct Greeting: Decodable { var port: Int }
    port = try JSONDecoder().decode(Greeting.self, from: await channel.exchange(nil)).port
  }

  /// The URL of a path on this server.
  func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

  /// The counts so far.
  func counts() async throws -> Counts { try await ask("counts").counts }

  /// Waits until a count reaches a number.
  func wait(for name: String, _ number: Int) async throws { _ = try await ask("wait \(name) \(number)") }

  /// Lets a `late` server accept connections.
  func listen() async throws { _ = try await ask("listen") }

  /// Makes one plain connection and waits until it, and with it every earlier one, was accepted.
  func knock() async throws -> Counts { try await ask("knock").counts }

  /// Returns the protocol and cipher for a client that accepts everything, such as "TLSv1.1 ECDHE-ECDSA-AES256-SHA".
  func check() async throws -> String { try await ask("check").text }

  private struct Report: Decodable {
    var counts: Counts
    var text: String
  }

  private func ask(_ command: String) async throws -> Report {
    try JSONDecoder().decode(Report.self, from: await channel.exchange(command))
  }
}

/// The script's process; its blocking reads have a separate queue.
private final class Channel: Sendable {
  private let queue = DispatchQueue(label: "test server")
  private let process: LineProcess

  init(_ arguments: [String]) throws {
    process = try LineProcess(ChildCommand(["python3"] + arguments))
  }

  func exchange(_ line: String?) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.exchangeBlocking(line) }) }
    }
  }

  func close() async {
    await withCheckedContinuation { continuation in
      queue.async {
        do { try self.process.close() } catch { Issue.record(error) }
        continuation.resume()
      }
    }
  }

  private func exchangeBlocking(_ line: String?) throws -> Data {
    if let line { try process.send(line) }
    return Data(try process.readLine().utf8)
  }
}
