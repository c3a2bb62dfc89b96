import Signet
import SignetCrypto
import SignetProtocol
import SignetServerTesting
import SignetTesting
import SignetTestKit
import Testing

/// A device with a real server: after any interruption or rejection, no activation is half done.
@Suite(.timeLimit(.minutes(10))) struct DeviceActivationTests {
  @Test func asksForNoPasswordWhereTheDeviceProtects() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let handler = ScriptedActivation(reply: .abort)
    let container = try await fixture.device.createContainer(
      ContainerInitialization(code: server.invite(), containerName: "Work"), handler: handler)
    #expect(handler.requests.isEmpty)
    #expect(container.isConfirmed && container.name == "Work")
    #expect(container.keys.map(\.usage) == [.transactionSigning, .oneTimePassword, .sessionTransport])
    #expect(try await fixture.device.oneTimePassword(for: container).code.utf8.count == 6)
    await server.server.stop()
  }

  @Test("a password that breaks the policy is refused with every rule, and nothing is stored or sent")
  func refusesAWeakPassword() async throws {
    let policy = try PasswordPolicy(
      minimumLength: 10, maximumLength: 64, uppercase: CharacterCount(minimum: 1),
      digits: CharacterCount(minimum: 1))
    let server = try await InvitingServer(.password(policy, .lock(limit: 3)))
    let fixture = try DeviceFixture(server.transport)
    let code = try await server.invite()
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.activate(code, password: "horse")
    }
    guard case .passwordRefused(let violations) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(Set(violations) == Set(policy.violations(of: "horse")))
    #expect(violations.count >= 3)
    for (reply, expected) in [
      (PasswordReply.cancel, SignetError.activationCancelled), (.abort, .activationAborted),
    ] {
      await #expect(throws: expected) {
        try await fixture.device.createContainer(
          ContainerInitialization(code: code), handler: ScriptedActivation(reply: reply))
      }
    }
    #expect(try await fixture.isEmpty)
    #expect(try await server.states().isEmpty)
    // The invite is still valid.
    _ = try await fixture.activate(code, password: "Horse battery 1")
    await server.server.stop()
  }

  @Test func replacesAnEarlierContainerOfTheUser() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let first = try await fixture.activate(server.invite())
    let bobs = try await fixture.activate(server.invite("bob"))
    let second = try await fixture.activate(server.invite())
    #expect(try await fixture.device.containers().map(\.id) == [bobs.id, second.id])
    await #expect(throws: SignetError.noSuchContainer) { try await fixture.device.container(first.id) }
    await #expect(throws: SignetError.noSuchContainer) {
      try await fixture.device.oneTimePassword(for: first)
    }
    #expect(try await server.states().sorted() == ["active", "revoked"])
    await server.server.stop()
  }

  @Test func refusesAWrongInviteAndKeepsNothing() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    var code = try await server.invite()
    code.invite = InviteCode(random: SystemRandomSource())
    await #expect(throws: SignetError.activationRefused) { try await fixture.activate(code) }
    code.user = UserID("nobody")
    await #expect(throws: SignetError.activationRefused) { try await fixture.activate(code) }
    #expect(try await fixture.isEmpty)
    await server.server.stop()
  }

  @Test func refusesAServerWithAnotherPin() async throws {
    let server = try await InvitingServer()
    let folder = try TemporaryFolder()
    let vault = try Vault.forTests(folder.path + "/device")
    let device = Device(
      vault: vault,
      connection: ConnectionConfiguration(certificateAuthoritiesPEM: server.server.certificateAuthorityPEM))
    var code = try await server.invite()
    code.pins = [[UInt8](repeating: 9, count: 32)]
    await #expect(throws: SignetError.transport(.wrongPin)) {
      try await device.createContainer(
        ContainerInitialization(code: code), handler: ScriptedActivation(reply: .abort))
    }
    #expect(try await vault.containers().isEmpty)
    await server.server.stop()
  }

  @Test("interrupted before or after each message", arguments: [CuttingTransport.Cut.before, .after])
  func worksAfterACut(_ cut: CuttingTransport.Cut) async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let code = try await server.invite()
    let expected: SignetError = .transport(
      cut == .before ? .unreachable(code: 7) : .incompleteResponse(code: 18))
    for message in ["/start", "/finish"] {
      transport.cut(cut, at: message)
      await #expect(throws: expected) { try await fixture.activate(code) }
      #expect(try await fixture.isEmpty)
      #expect(try await fixture.device.finishActivations().isEmpty)
      transport.cut(nil, at: message)
    }
    transport.cut(cut, at: "/confirm")
    await #expect(throws: expected) { try await fixture.activate(code) }
    #expect(try await fixture.device.containers().isEmpty)
    #expect(try await fixture.device.unconfirmedContainers().count == 1)
    await #expect(throws: expected) { try await fixture.device.finishActivations() }
    transport.cut(nil, at: "/confirm")
    let finished = try await fixture.device.finishActivations()
    #expect(finished.map(\.isConfirmed) == [true])
    #expect(try await fixture.device.containers() == finished)
    #expect(try await server.states() == ["active"])
    #expect(try await fixture.device.finishActivations().isEmpty)
    await server.server.stop()
  }

  @Test("an activation dropped by the server is dropped on the device too")
  func discardsWhatTheServerDropped() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    transport.cut(.before, at: "/confirm")
    let code = try await server.invite()
    await #expect(throws: SignetError.self) { try await fixture.activate(code) }
    _ = try await server.invite()  // replaces the one above
    transport.cut(nil, at: "/confirm")
    #expect(try await fixture.device.finishActivations().isEmpty)
    #expect(try await fixture.isEmpty)
    await server.server.stop()
  }

  @Test func keepsTheOldContainerUntilTheNewOneIsConfirmed() async throws {
    let server = try await InvitingServer()
    let transport = CuttingTransport(server.transport)
    let fixture = try DeviceFixture(transport)
    let first = try await fixture.activate(server.invite())
    transport.cut(.before, at: "/confirm")
    let code = try await server.invite()
    await #expect(throws: SignetError.self) { try await fixture.activate(code) }
    #expect(try await fixture.device.containers().map(\.id) == [first.id])
    #expect(try await fixture.device.pendingTransactions(for: first).isEmpty)
    transport.cut(nil, at: "/confirm")
    let second = try #require(try await fixture.device.finishActivations().first)
    #expect(try await fixture.device.containers().map(\.id) == [second.id])
    await server.server.stop()
  }

  @Test func twoDevicesShareAFolder() async throws {
    let server = try await InvitingServer()
    let one = try DeviceFixture(server.transport)
    let two = try DeviceFixture(server.transport, folder: one.folder)
    let codes = (try await server.invite("alice"), try await server.invite("bob"))
    async let first = one.activate(codes.0)
    async let second = two.activate(codes.1)
    let made = try await Set([first.id, second.id])
    for device in [one.device, two.device] {
      let containers = try await device.containers()
      #expect(Set(containers.map(\.id)) == made)
      for container in containers { _ = try await device.pendingTransactions(for: container) }
    }
    await server.server.stop()
  }

  @Test(arguments: [String(repeating: "x", count: 129), "a\u{7}", "a\u{202E}"])
  func refusesADeviceNameBeforeAnythingIsSent(_ name: String) async throws {
    let code = try ActivationCode.made()
    let server = HostileServer(code)
    let fixture = try DeviceFixture(server)
    let failure = await #expect(throws: SignetError.self) {
      try await fixture.device.createContainer(
        ContainerInitialization(code: code, deviceName: name), handler: ScriptedActivation(reply: .abort))
    }
    #expect(failure?.number == 205)
    #expect(server.requests.isEmpty)
  }
}
