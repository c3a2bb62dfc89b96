import Signet
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import SignetTesting
import Synchronization
import Testing

/// A failing server must not prevent a device from working with another.
@Suite(.timeLimit(.minutes(10))) struct DeviceUnfinishedActivationTests {
  /// A clock that can be set.
  private final class SettableClock: WallClock {
    private let offset = Mutex<Int64>(0)
    var now: Int64 { SystemWallClock().now + offset.withLock(\.self) }
    func set(ahead seconds: Int64) { offset.withLock { $0 = seconds } }
  }

  @Test("a server that refuses to confirm does not block the others")
  func oneServerRefuses() async throws {
    let folder = try TemporaryFolder()
    let (badClock, goodClock) = (SettableClock(), SettableClock())
    let (badFolder, goodFolder) = (try TemporaryFolder(), try TemporaryFolder())
    let bad = try await TestServer(
      directory: badFolder.path, protection: .device, clock: badClock, derivation: .insecureForTests)
    let good = try await TestServer(
      directory: goodFolder.path, protection: .device, clock: goodClock, derivation: .insecureForTests)
    let vault = try Vault.forTests(folder.path + "/device")
    let device = Device(vault: vault)
    let user = UserID("alice")

    // A server with a wrong clock accepts the proof, and then rejects every signed time.
    for (server, clock) in [(bad, badClock), (good, goodClock)] {
      clock.set(ahead: 3600)
      try await UserService(server.context).add(user, by: .local)
      let invitation = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local)
      let failure = await #expect(throws: SignetError.self) {
        try await device.createContainer(
          ContainerInitialization(
            code: invitation.code, certificateAuthoritiesPEM: server.certificateAuthorityPEM),
          handler: ScriptedActivation(reply: .abort))
      }
      guard case .refused = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
    }
    #expect(try await device.unconfirmedContainers().map(\.server) == [bad.serverURL, good.serverURL])

    goodClock.set(ahead: 0)
    await #expect(throws: SignetError.self) { try await device.finishActivations() }
    #expect(try await device.containers().map(\.server) == [good.serverURL])
    #expect(try await device.unconfirmedContainers().map(\.server) == [bad.serverURL])
    await bad.stop()
    await good.stop()
  }
}
