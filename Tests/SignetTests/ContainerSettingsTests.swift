import Signet
import SignetServerTesting
import SignetTestKit
import SignetTesting
import Testing

/// What an app may change of a container by itself.
@Suite(.timeLimit(.minutes(10))) struct ContainerSettingsTests {
  @Test("another name, seen by whoever opens the vault")
  func rename() async throws {
    let inviting = try await InvitingServer()
    let fixture = try DeviceFixture(inviting.transport)
    let container = try await fixture.activate(inviting.invite())
    #expect(container.name.isEmpty)
    #expect(try await fixture.device.rename(container, to: "Bank").name == "Bank")
    let other = Device(vault: try fixture.openVault())
    #expect(try await other.container(container.id).name == "Bank")
    let named = try await fixture.device.containers(matching: ContainerFilter(name: "Bank"))
    #expect(named.map(\.id) == [container.id])
    #expect(try await fixture.device.containers(matching: ContainerFilter(name: "bank")).isEmpty)
    let long = String(repeating: "x", count: 5_000)
    await #expect(throws: SignetFailure.self) { try await fixture.device.rename(container, to: long) }
    #expect(try await other.container(container.id).name == "Bank")
    await inviting.server.stop()
  }

  @Test("other certificates and pins, from the next request on; what is none of either changes nothing")
  func trust() async throws {
    let folder = try TemporaryFolder()
    let inviting = try await InvitingServer()
    let vault = try Vault.forTests(folder.path)
    let device = Device(vault: vault)
    let pem = inviting.server.certificateAuthorityPEM
    let container = try await device.createContainer(
      ContainerInitialization(code: inviting.invite(), certificateAuthoritiesPEM: pem),
      handler: ScriptedActivation(reply: .abort))
    #expect(try await device.pendingTransactions(for: container).isEmpty)

    try await device.setTrust(
      certificateAuthoritiesPEM: pem, pins: [[UInt8](repeating: 7, count: 32)], of: container)
    await #expect(throws: SignetFailure.transport(.wrongPin)) {
      try await device.pendingTransactions(for: container)
    }
    await #expect(throws: SignetFailure.transport(.invalidConfiguration(.pins))) {
      try await device.setTrust(certificateAuthoritiesPEM: pem, pins: [[7]], of: container)
    }
    await #expect(throws: SignetFailure.transport(.invalidConfiguration(.certificateAuthorities))) {
      try await device.setTrust(certificateAuthoritiesPEM: "none", of: container)
    }
    await #expect(throws: SignetFailure.transport(.wrongPin)) {
      try await Device(vault: vault).pendingTransactions(for: container)
    }
    // Those of the device, which are the system's, do not have this server's.
    try await device.setTrust(certificateAuthoritiesPEM: nil, of: container)
    await #expect(throws: SignetFailure.transport(.certificateRefused(.unknownIssuer))) {
      try await device.pendingTransactions(for: container)
    }
    let trusting = Device(
      vault: vault, connection: ConnectionConfiguration(certificateAuthoritiesPEM: pem))
    #expect(try await trusting.pendingTransactions(for: container).isEmpty)
    await inviting.server.stop()
  }
}
