import Foundation
import Signet
import SignetProtocol
import SignetPush
import SignetServer
import SignetServerTesting
import SignetTestKit
import Testing

/// Pushes on the device's side, from a real server.
@Suite(.timeLimit(.minutes(10))) struct DevicePushTests {
  /// Passes the messages to the test.
  private struct Gateway: PushDispatcher {
    let service = PushTarget.Service.webhook
    let messages = AsyncStream<String>.makeStream()

    func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
      messages.continuation.yield(message.envelope)
    }
  }

  @Test("a device registers a push target, gets a push, and finds the container with the transaction")
  func pushed() async throws {
    let gateway = Gateway()
    let folder = try TemporaryFolder()
    let server = try await TestServer(
      directory: folder.path, protection: .device, log: EventLog { _ in },
      push: PushSetup(delivery: PushDelivery([gateway])))
    let inviting = try InvitingServer(folder: folder, server: server)
    let fixture = try DeviceFixture(inviting.transport)
    let device = fixture.device
    let container = try await fixture.activate(inviting.invite())
    _ = try await fixture.activate(inviting.invite("bob"))

    let id = try await device.addPushTarget(.webhook(address: "desk"), name: "Desk", for: container)
    try await device.changePushTarget(id, name: "Couch", for: container)
    let list = try await device.pushTargets(of: container)
    #expect(list.targets.map(\.name) == ["Couch"] && list.services == [.webhook] && list.webPushKey == nil)

    let made = try await server.createTransaction("Pay 1 EUR", for: container.user)
    var messages = gateway.messages.stream.makeAsyncIterator()
    let envelope = try #require(await messages.next())
    let found = try #require(try await device.pushed(envelope))
    #expect(found.container == container && found.transaction == made)
    let other = try DeviceFixture(inviting.transport)
    _ = try await other.activate(inviting.invite("carol"))
    #expect(try await other.device.pushed(envelope) == nil)
    for text in ["", "x", String(envelope.dropLast(5)), envelope.replacingOccurrences(of: ".", with: "..")] {
      #expect(try await device.pushed(text) == nil)
    }

    try await device.removePushTarget(id, of: container)
    #expect(try await device.pushTargets(of: container).targets.isEmpty)
    await #expect(throws: SignetError.self) { try await device.removePushTarget(id, of: container) }
    await #expect(throws: SignetError.self) {
      try await device.addPushTarget(.apns(token: [1]), for: container)
    }
    await server.stop()
  }
}
