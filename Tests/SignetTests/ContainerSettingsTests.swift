import Signet
import SignetCrypto
import SignetProtocol
import SignetServerTesting
import SignetTesting
import SignetTestKit
import SignetVault
import Testing

/// Container settings that an app may change.
@Suite(.timeLimit(.minutes(10))) struct ContainerSettingsTests {
  @Test("a renamed container has its new name in each opened vault")
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
    await #expect(throws: SignetError.self) { try await fixture.device.rename(container, to: long) }
    #expect(try await other.container(container.id).name == "Bank")
    await inviting.server.stop()
  }

  @Test("new certificates and pins apply from the next request; invalid ones change nothing")
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
    await #expect(throws: SignetError.transport(.wrongPin)) {
      try await device.pendingTransactions(for: container)
    }
    await #expect(throws: SignetError.transport(.invalidConfiguration(.pins))) {
      try await device.setTrust(certificateAuthoritiesPEM: pem, pins: [[7]], of: container)
    }
    await #expect(throws: SignetError.transport(.invalidConfiguration(.certificateAuthorities))) {
      try await device.setTrust(certificateAuthoritiesPEM: "none", of: container)
    }
    await #expect(throws: SignetError.transport(.wrongPin)) {
      try await Device(vault: vault).pendingTransactions(for: container)
    }
    // The device's own authorities are the system's, without this server's.
    try await device.setTrust(certificateAuthoritiesPEM: nil, of: container)
    await #expect(throws: SignetError.transport(.certificateRefused(.unknownIssuer))) {
      try await device.pendingTransactions(for: container)
    }
    let trusting = Device(
      vault: vault, connection: ConnectionConfiguration(certificateAuthoritiesPEM: pem))
    #expect(try await trusting.pendingTransactions(for: container).isEmpty)
    await inviting.server.stop()
  }

  @Test("a container keeps the trust of its activation, regardless of the app's settings")
  func trustStays() async throws {
    let folder = try TemporaryFolder()
    let inviting = try await InvitingServer()
    let vault = try Vault.forTests(folder.path)
    let code = try await inviting.invite()
    let pem = inviting.server.certificateAuthorityPEM
    let elsewhere = try CertificateAuthority().certificatePEM
    let device = Device(
      vault: vault, connection: ConnectionConfiguration(certificateAuthoritiesPEM: elsewhere))
    let handler = ScriptedActivation(reply: .abort)
    let first = try await device.createContainer(
      ContainerInitialization(code: code, certificateAuthoritiesPEM: pem), handler: handler)
    let trusted = ServerTrust(certificateAuthoritiesPEM: pem, pins: code.pins)
    #expect(try await vault.container(first.id).attributes.connection == trusted)
    _ = try await inviting.server.createTransaction("Pay 1 EUR", for: first.user)
    let request = try #require(try await device.pendingTransactions(for: first).first)
    try await device.decide(request, .accepted, with: first)
    _ = try await device.oneTimePassword(for: first)
    let renewed = try await device.renew(try await device.rename(first, to: "Bank"), handler: handler)
    #expect(renewed.id != first.id && renewed.name == "Bank")
    #expect(try await vault.container(renewed.id).attributes.connection == trusted)
    #expect(try await device.pendingTransactions(for: renewed).isEmpty)
    await inviting.server.stop()
  }
}
