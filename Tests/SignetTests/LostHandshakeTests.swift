import Signet
import SignetHTTPClient
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Synchronization
import Testing

/// A server that loses handshakes, after a restart or during a slow user's input, fails no activation and no renewal.
@Suite(.timeLimit(.minutes(10))) struct LostHandshakeTests {
  /// Runs an action before requests of a kind are sent.
  private final class InterferingTransport: HTTPTransport {
    private let inner: any HTTPTransport
    private let action: Mutex<(suffix: String, times: Int, body: @Sendable () async throws -> Void)?> = Mutex(
      nil)
    private let sent = Mutex<[String]>([])

    init(_ inner: any HTTPTransport) { self.inner = inner }

    var paths: [String] { sent.withLock { $0 } }

    func before(_ suffix: String, times: Int, _ body: @escaping @Sendable () async throws -> Void) {
      action.withLock { $0 = (suffix, times, body) }
      sent.withLock { $0 = [] }
    }

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      sent.withLock { $0.append(String(request.url.split(separator: "/").suffix(2).joined(separator: "/"))) }
      let body = action.withLock { action -> (@Sendable () async throws -> Void)? in
        guard let wanted = action, request.url.hasSuffix(wanted.suffix), wanted.times > 0 else { return nil }
        action = (wanted.suffix, wanted.times - 1, wanted.body)
        return wanted.body
      }
      do { try await body?() } catch {
        Issue.record(error)
        throw .unreachable(code: 7)
      }
      return try await inner.send(request)
    }
  }

  @Test("a restart before finish: the device begins again by itself with the chosen password")
  func restartInAnActivation() async throws {
    let server = try await InvitingServer(
      .password(PasswordPolicy(minimumLength: 6, maximumLength: 64), .lock(limit: 5)))
    let transport = InterferingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let code = try await server.invite()
    let keys = server.server.context.handshakeKeys
    transport.before("/activation/finish", times: 1) { try keys.end() }
    let handler = ScriptedActivation(password: "winter-garden")
    let container = try await fixture.device.createContainer(
      ContainerInitialization(code: code), handler: handler)
    #expect(container.isConfirmed)
    #expect(handler.requests.count == 1, "the password is asked for once")
    #expect(
      transport.paths == [
        "activation/start", "activation/finish", "activation/start", "activation/finish",
        "activation/confirm",
      ])
    #expect(try await server.states() == ["active"])
    let activation = try await server.server.context.storage.openActivation(user: "alice")
    #expect(activation == nil)
    await server.server.stop()
  }

  @Test("after a second lost handshake the device stops, and the invite is unchanged")
  func bounded() async throws {
    let server = try await InvitingServer()
    let transport = InterferingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let code = try await server.invite()
    let keys = server.server.context.handshakeKeys
    transport.before("/activation/finish", times: 9) { try keys.end() }
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    }
    guard case .refused(let problem)? = failure, problem.code == .handshakeVoid else {
      Issue.record("another failure: \(String(describing: failure))")
      return
    }
    #expect(transport.paths.filter { $0 == "activation/finish" }.count == 2)
    #expect(try await server.server.context.storage.openActivation(user: "alice")?.failedAttempts == 0)
    #expect(try await fixture.device.unconfirmedContainers().isEmpty)
    await server.server.stop()
  }

  @Test("a restart before finish of a renewal")
  func restartInARenewal() async throws {
    let server = try await InvitingServer()
    let transport = InterferingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let first = try await fixture.activate(server.invite())
    let keys = server.server.context.handshakeKeys
    transport.before("/renewal/finish", times: 1) { try keys.end() }
    let second = try await fixture.device.renew(first, handler: ScriptedActivation(reply: .abort))
    #expect(second.isConfirmed && second.renewals == 1)
    #expect(transport.paths.filter { $0 == "renewal/start" }.count == 2)
    #expect(try await server.states().sorted() == ["active", "revoked"])
    await server.server.stop()
  }
}
