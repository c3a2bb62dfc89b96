import Signet
import SignetConcurrency
import SignetServer
import SignetStorage
import SignetServerTesting
import SignetTestKit
import SignetTesting
import Testing

/// The main job against a real server over TLS: activate, make a code, approve a transaction.
@Suite(.timeLimit(.minutes(10))) struct MainJobTests {
  @Test func activatesMakesCodesAndApproves() async throws {
    let folder = try TemporaryFolder()
    let password = SharedSecretBox(SecretBytes(copying: Array("correct horse".utf8)))
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await TestServer(
      directory: folder.path, protection: .password(policy, .lock(limit: 5)), derivation: .insecureForTests)
    let user = try UserID("alice")
    try await UserService(server.context).add(user, by: .local)
    let invitation = try await ActivationService(server.context).invite(user, lifetime: nil, by: .local)

    let vault = try Vault.forTests(folder.path + "/device")
    let device = Device(
      vault: vault,
      connection: ConnectionConfiguration(certificateAuthoritiesPEM: server.certificateAuthorityPEM))
    let handler = ScriptedActivation(password: "correct horse")
    let container = try await device.createContainer(
      ContainerInitialization(code: invitation.code, deviceName: "Laptop"), handler: handler)
    #expect(container.isConfirmed)
    #expect(handler.requests.map(\.policy) == [policy])
    #expect(handler.progress.map(\.fraction) == [0.1, 0.3, 0.5, 0.7, 0.9, 1])
    #expect(
      handler.progress.map(\.message) == [
        "Contacting \(invitation.code.server.shortForm)", "Making keys", "Proving the invite",
        "Storing the container", "Confirming", "Activated",
      ])

    let code = try await device.oneTimePassword(for: container, by: .password(password))
    let codes = CodeService(server.context)
    #expect(try await codes.validate(code.code, user: user, by: .init(.local)).value == .accepted)
    #expect(try await codes.validate(code.code, user: user, by: .init(.local)).value != .accepted)

    let transactions = TransactionService(server.context)
    let made = try await transactions.create(
      "Pay 250.00 EUR to Jane Doe", user: user, lifetime: nil, by: .local)
    let pending = try await device.pendingTransactions(for: container)
    #expect(pending.map(\.text) == ["Pay 250.00 EUR to Jane Doe"])
    try await device.decide(pending[0], .accepted, with: container, by: .password(password))
    let (record, _) = try await transactions.find(made.id)
    #expect(record.state == .accepted)
    await #expect(throws: SignetFailure.wrongPassword(remaining: 4)) {
      try await device.oneTimePassword(
        for: container, by: .password(secret("wrong horse")))
    }
    await server.stop()
  }
}
