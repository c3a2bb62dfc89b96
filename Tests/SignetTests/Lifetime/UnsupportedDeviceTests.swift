import Signet
import SignetCrypto
import SignetJSON
import SignetPolicy
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import SignetTestKit
import SignetVault
import Testing

/// A server that rejects some keystores: a typed error on both sides, at activation and at renewal.
@Suite(.timeLimit(.minutes(10))) struct UnsupportedDeviceTests {
  private let handler = ScriptedActivation(reply: .abort)

  private func expectUnsupported(_ words: String, _ body: () async throws -> Void) async {
    let failure = await #expect(throws: SignetError.self) { try await body() }
    guard case .unsupportedDevice(let problem) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(problem.code == .deviceUnsupported && problem.detail.contains(words))
  }

  @Test(arguments: [KeystoreRequirement.simulated, .hardware])
  func refusesASoftwareKeystore(_ requirement: KeystoreRequirement) async throws {
    let server = try await InvitingServer().restarted { $0.keystoreRequirement = requirement }
    let fixture = try DeviceFixture(server.transport)
    let code = try await server.invite()
    await expectUnsupported("software") { _ = try await fixture.activate(code) }
    #expect(try await fixture.isEmpty)
    #expect(try await server.states().isEmpty)
    let refused = try await server.events("activation.refused")
    #expect(try refused.map { try $0.string("reason") } == ["unsupported device: keystore software"])
    // Only a device with the invite gets the reason, and the invite stays valid for an accepted device.
    var wrong = code
    wrong.invite = InviteCode(random: SystemRandomSource())
    await #expect(throws: SignetError.activationRefused) { try await fixture.activate(wrong) }
    let accepting = try await server.restarted { $0.keystoreRequirement = .any }
    let again = try DeviceFixture(accepting.transport, folder: fixture.folder)
    #expect(try await again.activate(code).isConfirmed)
    await accepting.server.stop()
  }

  @Test("if hardware is required, a renewal does not reveal whether a silent lock's PIN was correct")
  func isNoOracle() async throws {
    let policy = try PasswordPolicy(minimumLength: 4, maximumLength: 4)
    let server = try await InvitingServer(.password(policy, .silent))
    let fixture = try DeviceFixture(server.transport)
    let container = try await fixture.activate(server.invite(), password: "4711")
    let strict = try await server.restarted { ($0.keystoreRequirement, $0.codeAttempts) = (.hardware, 3) }
    let renewing = try DeviceFixture(strict.transport, folder: fixture.folder)
    for pin in ["1111", "2222", "4711", "3333", "4444", "4711"] {
      await expectUnsupported("software") {
        _ = try await renewing.device.renew(container, password: secret(pin), handler: handler)
      }
    }
    await strict.server.stop()
  }

  @Test func refusesAtRenewalAndKeepsThePresentKeys() async throws {
    let server = try await InvitingServer()
    let fixture = try DeviceFixture(server.transport)
    let container = try await fixture.activate(server.invite())
    let strict = try await server.restarted { $0.keystoreRequirement = .hardware }
    let renewing = try DeviceFixture(strict.transport, folder: fixture.folder)
    await expectUnsupported("software") {
      _ = try await renewing.device.renew(container, handler: handler)
    }
    #expect(try await renewing.device.containers() == [container])
    #expect(try await renewing.device.unconfirmedContainers().isEmpty)
    #expect(try await strict.states() == ["active"])
    #expect(try await strict.events("renewal.refused").count == 1)
    for _ in 0..<62 {
      await expectUnsupported("software") { _ = try await renewing.device.renew(container, handler: handler) }
    }
    #expect(try await strict.events("renewal.refused").count == 60, "a container does not fill the log")
    #expect(try await renewing.device.pendingTransactions(for: container).isEmpty)
    await strict.server.stop()
  }

  @Test("hardware and simulated hardware are distinguished by the device's description")
  func tellsSimulatorsApart() async throws {
    let server = try await InvitingServer().restarted { $0.keystoreRequirement = .hardware }
    let folder = try TemporaryFolder()
    let hardware = SimulatedHardware()
    func device(isSimulator: Bool, _ server: InvitingServer) throws -> Device {
      let keystore = DescribedKeystore(hardware: hardware, isSimulator: isSimulator)
      let vault = try Vault.forTests(folder.path + "/\(isSimulator)", keystore: keystore)
      return Device(vault: vault) { _ throws(TransportFailure) in server.transport }
    }
    let code = try await server.invite()
    await expectUnsupported("tpm2 (simulated)") {
      _ = try await device(isSimulator: true, server).createContainer(
        ContainerInitialization(code: code), handler: handler)
    }
    let container = try await device(isSimulator: false, server).createContainer(
      ContainerInitialization(code: code), handler: handler)
    #expect(try await server.record(container)?.isSimulated == false)
    let lenient = try await server.restarted { $0.keystoreRequirement = .simulated }
    let simulated = try await device(isSimulator: true, lenient).createContainer(
      ContainerInitialization(code: lenient.invite("bob")), handler: handler)
    let record = try #require(try await lenient.record(simulated))
    #expect(record.isSimulated && record.keystore == "tpm2" && record.keyOrigin == "software")
    let staged = try await lenient.events("activation.staged").compactMap {
      try $0.optionalString("keystore")
    }
    #expect(staged == ["tpm2", "tpm2 (simulated)"])
    await lenient.server.stop()
  }
}

/// A keystore with a description that a test sets.
private struct DescribedKeystore: HardwareKeystore {
  let hardware: SimulatedHardware
  let isSimulator: Bool

  var kind: KeystoreKind { .tpm2 }

  func seal(_ secret: borrowing SecretBytes, context: [UInt8]) throws(KeystoreFailure) -> [UInt8] {
    try hardware.seal(secret, context: context)
  }

  func unseal(_ blob: [UInt8], context: [UInt8]) throws(KeystoreFailure) -> SecretBytes {
    try hardware.unseal(blob, context: context)
  }

  func status() throws(KeystoreFailure) -> KeystoreStatus {
    var status = KeystoreStatus(kind: kind)
    status.isSimulator = isSimulator
    return status
  }
}
