import Signet
import SignetCrypto
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetStorage
import Synchronization
import Testing

/// A device accepts lists only from its server: the receipt has the first key, which authenticates the next one.
@Suite(.timeLimit(.minutes(10))) struct ServerKeyTests {
  /// Answers a request for transactions with a set response, and forwards other requests.
  private final class Impostor: HTTPTransport {
    private let inner: any HTTPTransport
    private let answer = Mutex<HTTPResponse?>(nil)
    private let last = Mutex<HTTPResponse?>(nil)

    init(_ inner: any HTTPTransport) { self.inner = inner }

    /// The last answer.
    var recorded: HTTPResponse? { last.withLock { $0 } }

    func answer(_ response: HTTPResponse?) { answer.withLock { $0 = response } }

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
      let response = try await inner.send(request)
      guard request.url.hasSuffix("/device/transactions") else { return response }
      if let other = answer.withLock({ $0 }) { return other }
      last.withLock { $0 = response }
      return response
    }
  }

  @Test(
    "a rotated key is followed and stored; forged, old and foreign key lists are refused")
  func lists() async throws {
    let server = try await InvitingServer()
    let code = try await server.invite("alice")
    let transport = Impostor(server.transport)
    let fixture = try DeviceFixture(transport)
    let container = try await fixture.activate(code)
    let user = UserID("alice")
    let context = server.server.context
    _ = try await TransactionService(context).create("Pay 1", user: user, lifetime: nil, by: .local)
    #expect(try await fixture.device.pendingTransactions(for: container).map(\.text) == ["Pay 1"])
    for _ in 0..<2 {
      _ = try await SigningKeyService(context).rotate(by: .local)
      #expect(try await fixture.device.pendingTransactions(for: container).count == 1)
    }
    // An earlier answer, replayed.
    transport.answer(transport.recorded)
    await #expect(throws: SignetError.unexpectedAnswer(status: 200)) {
      try await fixture.device.pendingTransactions(for: container)
    }
    // An attacker that terminates TLS cannot know the device's public key; this test assumes it does.
    let record = try #require(try await context.storage.container(container.serverContainerID))
    let encryption = try P256.KeyAgreement.PublicKey(x963: record.encryptionKey)
    let forger = P256.Signing.PrivateKey()
    let address = ListAddress(
      server: container.server, container: container.serverContainerID,
      request: [UInt8](repeating: 0, count: 16))
    let forged = try TransactionList([]).sealed(for: address, by: forger, to: encryption)
    transport.answer(HTTPResponse(status: 200, body: Array(forged.utf8)))
    #expect(try await fixture.device.container(container.id).otherServerKeySince == nil)
    await #expect(throws: SignetError.serverKeyUnknown) {
      try await fixture.device.pendingTransactions(for: container)
    }
    // It is recorded until the server's own key signs again.
    #expect(try await fixture.device.container(container.id).otherServerKeySince != nil)
    transport.answer(nil)
    #expect(try await fixture.device.pendingTransactions(for: container).count == 1)
    #expect(try await fixture.device.container(container.id).otherServerKeySince == nil)
    await server.server.stop()
  }
}
