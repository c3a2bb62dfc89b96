import Foundation
import Signet
import SignetCrypto
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import SignetTesting
import SignetTestKit
import Synchronization
import Testing

/// Forwards requests, and records their contents.
private final class Eavesdropper: HTTPTransport {
  private let inner: any HTTPTransport
  private let sent = Mutex("")

  init(_ inner: any HTTPTransport) { self.inner = inner }

  /// The recorded text, and each part of it that is Base64URL, decoded.
  var seen: [Data] {
    let text = sent.withLock { $0 }
    let parts = text.split { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")) }
    return [Data(text.utf8)]
      + parts.compactMap { part -> Data? in
        do { return Data(try Base64URL.decode(String(part))) } catch { return nil }
      }
  }

  func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
    let body = String(decoding: request.body, as: UTF8.self)
    sent.withLock { $0 += "\(request.url) \(request.headers) \(body)\n" }
    return try await inner.send(request)
  }
}

/// The main use with a real server over TLS: activate, make a code, approve a transaction.
@Suite(.timeLimit(.minutes(10))) struct MainJobTests {
  @Test func activatesMakesCodesAndApproves() async throws {
    let folder = try TemporaryFolder()
    let password = SharedSecretBox(SecretBytes(copying: Array("correct horse".utf8)))
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await TestServer(
      directory: folder.path, protection: .password(policy, .lock(limit: 5)), derivation: .insecureForTests)
    let user = UserID("alice")
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
    await #expect(throws: SignetError.wrongPassword(remaining: 4)) {
      try await device.oneTimePassword(
        for: container, by: .password(secret("wrong horse")))
    }
    await server.stop()
  }

  @Test("no message of a device contains password, invite, code secret or private key")
  func sendsNoSecret() async throws {
    let policy = try PasswordPolicy(minimumLength: 6, maximumLength: 64)
    let server = try await InvitingServer(.password(policy, .lock(limit: 5)))
    let transport = Eavesdropper(server.transport)
    let fixture = try DeviceFixture(transport)
    let code = try await server.invite()
    let container = try await fixture.activate(code, password: "correct horse")
    _ = try await server.server.createTransaction("Pay 1 EUR", for: container.user)
    let waiting = try #require(try await fixture.device.pendingTransactions(for: container).first)
    try await fixture.device.decide(
      waiting, .accepted, with: container, by: .password(secret("correct horse")))

    var needles = [Array("correct horse".utf8), Array(code.invite.inviteText.utf8)]
    needles.append(Array(code.invite.typedForm.utf8))
    let typed = SecretBytes(copying: Array("correct horse".utf8))
    let user = try await fixture.vault.open("user", of: container.id, with: .password(typed))
    for name in ["signing-key", "otp-secret"] {
      needles.append(try user.withRecord(name) { SecretBytes(copying: $0).insecureCopy() })
    }
    let own = try await fixture.vault.open("device", of: container.id, with: .device)
    for name in ["session-key", "encryption-key"] {
      needles.append(try own.withRecord(name) { SecretBytes(copying: $0).insecureCopy() })
    }
    let seen = transport.seen
    // The control: public data is found, in plain text and in signed messages.
    #expect(seen[0].range(of: Data("/activation/start".utf8)) != nil)
    #expect(seen.dropFirst().contains { $0.range(of: Data("Pay 1 EUR".utf8)) != nil })
    for (index, needle) in needles.enumerated() {
      #expect(!seen.contains { $0.range(of: Data(needle)) != nil }, "needle \(index)")
    }
    await server.server.stop()
  }
}
