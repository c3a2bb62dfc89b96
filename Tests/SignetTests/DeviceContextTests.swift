import Signet
import SignetCrypto
import SignetJSON
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import Testing

/// An app's description of the circumstances of a decision.
@Suite(.timeLimit(.minutes(10))) struct DeviceContextTests {
  @Test("the device context is signed with the decision and readable by the relying party")
  func signed() async throws {
    let inviting = try await InvitingServer()
    let fixture = try DeviceFixture(inviting.transport)
    let container = try await fixture.activate(inviting.invite())
    let id = try await inviting.server.createTransaction("Pay 1 EUR", for: container.user)
    let request = try #require(try await fixture.device.pendingTransactions(for: container).first)
    for refused in [[], [UInt8](repeating: 1, count: 751)] {
      let failure = SignetError.contentRefused(
        .invalid(member: "deviceContext", reason: "must have 1 to 750 bytes"))
      await #expect(throws: failure) {
        try await fixture.device.decide(request, .accepted, deviceContext: refused, with: container)
      }
    }
    #expect(try await inviting.server.decision(on: id) == nil)
    let context = [UInt8](repeating: 0xFF, count: 750)
    try await fixture.device.decide(request, .accepted, deviceContext: context, with: container)
    let found = try await TransactionService(inviting.server.context).find(id).0
    let check = try DecisionCheck(
      #require(found.decision?.jws), key: P256.Signing.PublicKey(x963: #require(await signingKey(inviting))))
    #expect(check.decision.deviceContext == context)
    await inviting.server.stop()
  }

  private func signingKey(_ inviting: InvitingServer) async throws -> [UInt8]? {
    try await inviting.server.context.storage.containers(user: "alice").first?.signingKey
  }

  @Test("a device context of wrong length or encoding makes a decision invalid", arguments: ["", "!", "751"])
  func refused(_ text: String) async throws {
    let request = TransactionRequest(
      id: TransactionID("t"), content: try TransactionContent(.text("Pay"), from: .device), created: 0,
      expires: 1)
    let decision = Decision(
      .accepted, of: request, at: 0, server: try ServerURL("id.example.org/main"), user: UserID("alice"),
      container: ContainerID("c"), device: [UInt8](repeating: 1, count: 16), deviceContext: [1]
    )
    var object = try JSONObject(parsing: decision.bytes)
    object["deviceContext"] = .string(text == "751" ? String(repeating: "A", count: 1002) : text)
    #expect(try Decision(parsing: decision.bytes) == decision)
    #expect(throws: WireFailure.self) { try Decision(parsing: JSONValue.object(object).bytes) }
  }
}
