import PushFixture
import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetPush
import SignetServerTesting
import SignetStorage
import SignetTesting
import Synchronization
import Testing

import SignetServer

/// From a transaction at the server to independent HTTP/2 push services, and back to the server's list of targets.
@Suite(
  .enabled(
    if: PushServices.isWanted, "needs SIGNET_PYTHON with the modules of Tests/Interop/requirements.txt"),
  .timeLimit(.minutes(10)))
struct PushServiceTests {
  private let clock = VirtualClock()
  private let services: PushServices
  private let server: ServerFixture
  private let waits = Waits()

  /// The waits between attempts.
  private final class Waits: Sendable {
    private let seconds = Mutex<[Int64]>([])
    func append(_ wait: Int64) { seconds.withLock { $0.append(wait) } }
    func take() -> [Int64] {
      seconds.withLock { seconds in
        defer { seconds = [] }
        return seconds
      }
    }
  }

  init() throws {
    services = try PushServices()
    let dispatchers: [any PushDispatcher] = [
      WebhookDispatcher(
        url: "\(services.base)/gateway", signature: MessageSignature(services.signingKey, keyID: "server-1"),
        over: services.transport, clock: clock),
      APNsDispatcher(
        APNsCredentials(
          key: services.signingKey, keyID: "KEY1234567", teamID: "TEAM123456", topic: "org.example.app"),
        base: services.base, over: services.transport, clock: clock),
    ]
    let (clock, waits) = (clock, waits)
    let delivery = PushDelivery(dispatchers, clock: clock) { (duration) async throws(CancellationError) in
      waits.append(duration.components.seconds)
      clock.advance(by: duration.components.seconds)
    }
    server = try ServerFixture(clock: clock, push: PushSetup(delivery: delivery))
  }

  /// Makes a transaction and waits until its pushes are delivered or abandoned.
  private func announce() async throws -> TransactionRecord {
    let sender = PushSender(server.context)
    let transactions = TransactionService(server.context) { sender.announce($0) }
    let made = try await transactions.create(
      "Pay 99 EUR", user: UserID("alice"), lifetime: nil, by: .key("test"))
    await sender.finish()
    return made
  }

  @Test(
    "a busy service is retried until it accepts the push; a removed target is dropped",
    arguments: [PushTarget.webhook(address: "desk-17"), .apns(token: [0x0A, 0xFF])])
  func wholeWay(_ target: PushTarget) async throws {
    let targets = PushTargetService(server.context)
    let device = try await server.activate()
    let record = try await device.send(to: server)
    _ = try await targets.add(PushTargetForm(name: "Desk", target: target).bytes, for: record)

    // Busy, busy with a time, a broken connection, and then success.
    try services.answer(503)
    try services.answer(503, headers: ["retry-after": "9"])
    try services.answer(0)
    try services.answer(200)
    let made = try await announce()
    #expect(waits.take() == [1, 9, 4])
    let requests = try services.requests()
    #expect(requests.count == 4)
    let member = target.service == .webhook ? "message" : "signet"
    for request in requests {
      let envelope = try request.checked().object("body").string(member)
      // The envelope has no plain text, not even in base64url.
      #expect(!envelope.contains("99 EUR"))
      for part in envelope.split(separator: ".") {
        #expect(try !String(decoding: Base64URL.decode(String(part)), as: UTF8.self).contains("99 EUR"))
      }
      let payload = try PushPayload(decrypting: envelope, with: device.encryption)
      #expect(payload.transaction == made.id && payload.container == device.container)
    }
    #expect(try await targets.list(for: record).targets.count == 1)

    // A gone target is tried once, removed at the server, and not tried again.
    try services.answer(410, body: #"{"reason":"Unregistered"}"#)
    _ = try await announce()
    #expect(try services.requests().count == 1)
    #expect(try await targets.list(for: record).targets.isEmpty)
    #expect(try await server.audit().contains { $0.contains("push.target.dropped") })
    _ = try await announce()
    #expect(try services.requests().isEmpty && waits.take().isEmpty)
  }
}
