import Signet
import SignetHTTPClient
import SignetProtocol
import SignetServerTesting
import SignetSystem
import SignetTesting
import Synchronization
import Testing

import struct SignetPolicy.PasswordPolicy

@Suite(.timeLimit(.minutes(10))) struct ConditionTests {
  @Test("the status shows unlock methods, lock and keystore without unlocking")
  func conditions() async throws {
    let server = try await InvitingServer(
      .biometricOrPassword(
        PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 1, atLimit: .wipe)))
    let fixture = try DeviceFixture(server.transport)
    let container = try await fixture.activate(server.invite(), password: "Signal 42 tower")
    let transport = server.transport
    let device = Device(vault: fixture.vault, biometrics: SimulatedBiometrics()) {
      _ throws(TransportFailure) in transport
    }
    #expect(try await device.enabledUnlockMethods(of: container) == [])
    try await device.enableBiometrics(for: container, password: secret("Signal 42 tower"))
    #expect(try await device.enabledUnlockMethods(of: container) == [.biometrics])
    #expect(try await device.lockStatus(of: container) == .unlocked)
    #expect(try await !device.isPasswordExpired(of: container))
    #expect(try await device.lostCredentials().isEmpty)
    #expect(try await device.keystoreStatus().kind == .software)
    #expect(try await device.timeSeenAhead() == nil)
    await #expect(throws: SignetError.wiped) {
      try await device.oneTimePassword(for: container, by: .password(secret("wrong one")))
    }
    await #expect(throws: SignetError.wiped) { try await device.lockStatus(of: container) }
    await server.server.stop()
  }

  @Test("a server's report that a container is unknown is remembered until the server accepts it again")
  func unknownToItsServer() async throws {
    let server = try await InvitingServer()
    let transport = ForgettingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(server.invite())
    #expect(container.unknownToServerSince == nil)
    let before = SystemWallClock().now
    transport.forgets(true)
    await #expect(throws: SignetError.containerUnknown) {
      try await fixture.device.pendingTransactions(for: container)
    }
    let since = try #require(try await fixture.device.containers().first?.unknownToServerSince)
    #expect(since >= before)
    // Neither a repetition nor an unreachable server changes the time.
    let later = Device(vault: fixture.vault, clock: VirtualClock(since + 100)) {
      _ throws(TransportFailure) in transport
    }
    await #expect(throws: SignetError.containerUnknown) {
      try await later.pendingTransactions(for: container)
    }
    let cut = CuttingTransport(transport)
    cut.cut(.before, at: "/transactions")
    let offline = Device(vault: fixture.vault) { _ throws(TransportFailure) in cut }
    await #expect(throws: SignetError.transport(.unreachable(code: 7))) {
      try await offline.pendingTransactions(for: container)
    }
    #expect(try await later.container(container.id).unknownToServerSince == since)
    transport.forgets(false)
    _ = try await fixture.device.pendingTransactions(for: container)
    #expect(try await fixture.device.container(container.id) == container)
    await server.server.stop()
  }

  @Test("a clock set back is detected by the vault's latest time")
  func clock() async throws {
    let server = try await InvitingServer(
      .password(PasswordPolicy(minimumLength: 4, maximumLength: 40), .lock(limit: 3)))
    let fixture = try DeviceFixture(server.transport)
    _ = try await fixture.activate(server.invite(), password: "Signal 42 tower")
    let now = SystemWallClock().now
    let transport = server.transport
    let device = Device(vault: fixture.vault, clock: VirtualClock(now - 86_400)) {
      _ throws(TransportFailure) in transport
    }
    let seen = try #require(try await device.timeSeenAhead())
    #expect(abs(seen - now) < 3600)
    await server.server.stop()
  }
}

/// Forwards requests, or answers like a server that does not know the container.
private final class ForgettingTransport: HTTPTransport {
  private let inner: any HTTPTransport
  private let hasForgotten = Mutex(false)

  init(_ inner: any HTTPTransport) { self.inner = inner }

  func forgets(_ forgets: Bool) { hasForgotten.withLock { $0 = forgets } }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    if hasForgotten.withLock({ $0 }) {
      return HTTPResponse(status: 401, body: Problem(.containerUnknown).bytes)
    }
    return try await inner.send(request)
  }
}
