import Signet
import SignetTesting
import Testing

import struct SignetPolicy.PasswordPolicy

struct ConditionTests {
  @Test("the ways that are enabled, the lock, and what keeps the keys, without opening anything")
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
    #expect(try await device.enabledWays(of: container) == [])
    try await device.enableBiometrics(for: container, password: secret("Signal 42 tower"))
    #expect(try await device.enabledWays(of: container) == [.biometrics])
    #expect(try await device.lockStatus(of: container) == .unlocked)
    #expect(try await !device.isPasswordExpired(of: container))
    #expect(try await device.lostCredentials().isEmpty)
    #expect(try await device.keystoreStatus().kind == .software)
    #expect(try await device.timeSeenAhead() == nil)
    await #expect(throws: SignetFailure.wiped) {
      try await device.oneTimePassword(for: container, by: .password(secret("wrong one")))
    }
    await #expect(throws: SignetFailure.wiped) { try await device.lockStatus(of: container) }
    await server.server.stop()
  }

  @Test("a clock that was turned back is noticed by what the vault has seen")
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
