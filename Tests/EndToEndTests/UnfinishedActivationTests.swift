import Foundation
import Signet
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import SignetTesting
import Testing

/// The `signet` command on a device with an activation that its server refuses to confirm.
@Suite(.timeLimit(.minutes(10))) struct UnfinishedActivationTests {
  private final class FastClock: WallClock {
    let now: Int64 = SystemWallClock().now + 3600
  }

  private let folder: TemporaryFolder
  private let good: TestServer
  private let bad: TestServer
  private let data: String

  init() async throws {
    folder = try TemporaryFolder()
    let (goodFolder, badFolder) = ("\(folder.path)/good", "\(folder.path)/bad")
    for path in [goodFolder, badFolder] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    good = try await TestServer(directory: goodFolder, protection: .device)
    bad = try await TestServer(directory: badFolder, protection: .device, clock: FastClock())
    data = "\(folder.path)/device"
    let device = Device(vault: try Vault(directory: data, keystore: SoftwareKeystore(directory: data)))
    let user = UserID("alice")
    for server in [bad, good] {
      try await UserService(server.context).add(user, by: .local)
      let invitation = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local)
      do {
        _ = try await device.createContainer(
          ContainerInitialization(
            code: invitation.code, certificateAuthoritiesPEM: server.certificateAuthorityPEM),
          handler: ScriptedActivation(reply: .abort))
      } catch SignetError.refused {
        // This server's clock is off: it accepts the proof, and then rejects every signed time.
      }
    }
    try #require(try await device.unconfirmedContainers().count == 1)
    try #require(try await device.containers().count == 1)
  }

  private func signet(_ words: String...) async throws -> ServerCommand.Result {
    var process = try ServerCommand.process(words + ["--data", data])
    process.line[0] = try InstalledSignet.executable()
    return try await process.finish()
  }

  @Test("containers confirmed by another server keep working; the others can be deleted")
  func otherServers() async throws {
    let code = try await signet("otp")
    #expect(code.status == 0, "\(code.errorOutput)")
    #expect(code.output.count == 7)
    #expect(code.errorOutput.contains("not confirmed yet"))

    let deleted = try await signet("delete", "--yes", "--container", "alice@\(bad.serverURL.shortForm)")
    #expect(deleted.status == 0, "\(deleted.errorOutput)")
    #expect(try await signet("otp").errorOutput.isEmpty)
    await good.stop()
    await bad.stop()
  }
}
