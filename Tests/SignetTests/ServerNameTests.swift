import Signet
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTestKit
import SignetTesting
import Testing

/// Signed messages name their server, so a device and its server must use one URL.
@Suite(.timeLimit(.minutes(10))) struct ServerNameTests {
  @Test("a server with another own URL is refused by name; its own URL works with the same invite")
  func anotherURL() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(
      directory: folder.path, protection: .device, derivation: .insecureForTests)
    let user = UserID("alice")
    try await UserService(server.context).add(user, by: .local)
    var code = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local).code
    // The same machine by another name in its certificate, so that the pin is not the reason of the rejection.
    code.server = try ServerURL("localhost:\(server.serverURL.port)/\(server.serverURL.domain)")
    let device = Device(
      vault: try Vault.forTests(folder.path + "/device"),
      connection: ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))

    let expected = SignetError.serverNameMismatch(offered: server.serverURL)
    await #expect(throws: expected) {
      try await device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    }
    #expect(expected.number == 206)
    #expect(expected.description.contains(server.serverURL.shortForm))
    #expect(try await device.containers().isEmpty)
    #expect(try await device.unconfirmedContainers().isEmpty)

    code.server = server.serverURL
    let container = try await device.createContainer(
      ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    #expect(container.server == server.serverURL)
    await server.stop()
  }
}
