import Signet
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetSystem
import Testing

/// A device without a network.
@Suite(.timeLimit(.minutes(10))) struct OfflineUseTests {
  private struct NoNetwork: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      throw .unreachable(code: 7)
    }
  }

  @Test("a container's one-time passwords are accepted by its server")
  func oneTimePasswords() async throws {
    let inviting = try await InvitingServer()
    let fixture = try DeviceFixture(inviting.transport)
    let container = try await fixture.activate(inviting.invite())
    let offline = Device(vault: try fixture.openVault()) { _ throws(TransportFailure) in NoNetwork() }
    await #expect(throws: SignetError.transport(.unreachable(code: 7))) {
      try await offline.pendingTransactions(for: container)
    }
    let code = try await offline.oneTimePassword(for: container)
    let codes = CodeService(inviting.server.context)
    #expect(try await codes.validate(code.code, user: container.user, by: .init(.local)).value == .accepted)
    await inviting.server.stop()
  }

  @Test("the response to typed values is accepted by the server")
  func typed() async throws {
    let inviting = try await InvitingServer()
    let fixture = try DeviceFixture(inviting.transport)
    let container = try await fixture.activate(inviting.invite())
    let transactions = TransactionService(inviting.server.context)
    let order = TransactionDraft(
      .form(
        try TransactionForm(
          template: "payment", fields: [TransactionField(.amount(MoneyAmount("250.00", currency: "EUR")))])),
      from: "Example Bank", user: container.user, typedFields: [0])
    let id = try await transactions.create(order, by: .local).record.id
    let challenge = try await transactions.typed(id).challenge
    let offline = Device(vault: try fixture.openVault()) { _ throws(TransportFailure) in NoNetwork() }
    let other = try await offline.typedAnswer(
      to: TypedApproval(challenge: challenge, values: ["2500 EUR"]), with: container)
    await #expect(throws: Problem.self) {
      try await transactions.answer(.typed(other), to: id, by: .init(.local))
    }
    let right = try await offline.typedAnswer(
      to: TypedApproval(challenge: challenge, values: ["250 EUR"]), with: container)
    try await transactions.answer(.typed(right), to: id, by: .init(.local))
    #expect(try await inviting.server.decision(on: TransactionID("\(id)")) == .accepted)
    await inviting.server.stop()
  }

  @Test(
    "a scanned text selects its container; an ambiguous one fails with the candidates")
  func containers() async throws {
    let inviting = try await InvitingServer()
    let fixture = try DeviceFixture(inviting.transport)
    let alices = try await fixture.activate(inviting.invite())
    let offline = Device(vault: try fixture.openVault()) { _ throws(TransportFailure) in NoNetwork() }
    let server = inviting.server.serverURL
    #expect(try await offline.container(at: server) == alices)
    let bobs = try await fixture.activate(inviting.invite("bob"))
    await #expect(throws: SignetError.severalContainers([alices, bobs])) {
      try await offline.container(at: server)
    }
    #expect(try await offline.container(at: server, user: UserID("bob")) == bobs)
    let elsewhere = try ServerURL("id.example.org/main")
    await #expect(throws: SignetError.noSuchContainer) { try await offline.container(at: elsewhere) }
    await #expect(throws: SignetError.noSuchContainer) {
      try await offline.container(at: server, user: UserID("carol"))
    }
    await inviting.server.stop()
  }
}
