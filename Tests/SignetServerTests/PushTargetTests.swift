import SignetCrypto
import SignetHTTPClient
import SignetJSON
import SignetProtocol
import SignetPush
import SignetServer
import SignetServerTesting
import SignetStorage
import SignetTesting
import Synchronization
import Testing

/// Push targets, and the sending of pushes (`docs/protocol.md` section 10).
@Suite(.timeLimit(.minutes(10))) struct PushTargetTests {
  /// A dispatcher that records its messages, and fails on demand.
  private final class Recorder: PushDispatcher {
    let service = PushTarget.Service.webhook
    private let state = Mutex<(sent: [(PushMessage, PushTarget)], failure: PushFailure?)>(([], nil))

    private let held = Mutex<Gate?>(nil)

    var sent: [(PushMessage, PushTarget)] { state.withLock { $0.sent } }

    /// Holds every message until the gate opens.
    func hold(_ gate: Gate) { held.withLock { $0 = gate } }

    func fail(_ failure: PushFailure?) { state.withLock { $0.failure = failure } }

    func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
      await held.withLock { $0 }?.pass()
      let failure = state.withLock { state in
        state.sent.append((message, target))
        return state.failure
      }
      if let failure { throw failure }
    }
  }

  /// A gate that is closed until it is opened.
  private final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func pass() async {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiting.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    }

    func open() {
      let waiting = state.withLock { state in
        state.isOpen = true
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  private let recorder = Recorder()
  private let server: ServerFixture
  private var targets: PushTargetService { PushTargetService(server.context) }

  init() throws {
    let clock = VirtualClock()
    let delivery = PushDelivery([recorder], clock: clock) { (duration) async throws(CancellationError) in
      clock.advance(by: duration.components.seconds)
    }
    server = try ServerFixture(clock: clock, push: PushSetup(delivery: delivery))
  }

  private func form(_ address: String, name: String = "Desk") throws -> [UInt8] {
    try PushTargetForm(name: name, target: .webhook(address: address)).bytes
  }

  @Test("a device adds, lists, changes and removes only its own targets")
  func life() async throws {
    let device = try await server.activate()
    let other = try await server.activate(device: 2)
    let (record, stranger) = (try await device.send(to: server), try await other.send(to: server))
    let id = try await targets.add(form("desk-1"), for: record)
    var list = try await targets.list(for: record)
    #expect(list.targets.map(\.id) == [id] && list.targets.map(\.name) == ["Desk"])
    #expect(list.targets.map(\.target) == [.webhook(address: "desk-1")] && list.services == [.webhook])
    #expect(try await targets.list(for: stranger).targets.isEmpty)
    let renamed = try PushTargetForm(name: "Couch", target: nil).bytes
    #expect(try await problem { try await targets.change(id, to: renamed, for: stranger) } == .unknown)
    try await targets.change(id, to: renamed, for: record)
    try await targets.change(
      id, to: PushTargetForm(name: nil, target: .webhook(address: "desk-2")).bytes, for: record)
    list = try await targets.list(for: record)
    #expect(
      list.targets.map(\.name) == ["Couch"] && list.targets.map(\.target) == [.webhook(address: "desk-2")])
    #expect(try await problem { try await targets.remove(id, of: stranger) } == .unknown)
    try await targets.remove(id, of: record)
    #expect(try await targets.list(for: record).targets.isEmpty)
    #expect(try await problem { try await targets.remove(id, of: record) } == .unknown)
  }

  @Test("a fifth target, a service that is not set up and a name of two lines are refused")
  func refusals() async throws {
    let record = try await server.activate().send(to: server)
    for number in 1...4 { _ = try await targets.add(form("desk-\(number)"), for: record) }
    #expect(try await problem { try await targets.add(form("desk-5"), for: record) } == .exists)
    let apns = try PushTargetForm(name: nil, target: .apns(token: [1])).bytes
    #expect(try await problem { try await targets.add(apns, for: record) } == .malformed)
    let lines = Array(#"{"name":"a\nb","target":{"service":"webhook","address":"x"}}"#.utf8)
    #expect(try await problem { try await targets.add(lines, for: record) } == .malformed)
    #expect(try await problem { try await targets.add(Array("{}".utf8), for: record) } == .malformed)
  }

  @Test("push addresses are stored encrypted, bound to their row")
  func atRest() async throws {
    let record = try await server.activate().send(to: server)
    let id = try await targets.add(form("very-secret-address"), for: record)
    var kept = try #require(try await server.storage.pushTargets(container: record.id).first)
    #expect(!String(decoding: kept.sealedTarget, as: UTF8.self).contains("very-secret-address"))
    #expect(try targets.target(of: kept) == .webhook(address: "very-secret-address"))
    kept.id = "another"
    #expect(throws: WireFailure.notAuthentic) { try targets.target(of: kept) }
    #expect(try await server.audit().allSatisfy { !$0.contains("very-secret-address") })
    #expect(try await server.audit().contains { $0.contains("push.target.added") && $0.contains(id.text) })
  }

  /// Makes a transaction and waits until its pushes are delivered or abandoned.
  private func announce(_ text: String = "Pay 1 €") async throws -> TransactionRecord {
    let sender = PushSender(server.context)
    let transactions = TransactionService(server.context) { sender.announce($0) }
    let made = try await transactions.create(text, user: UserID("alice"), lifetime: nil, by: .key("test"))
    await sender.finish()
    return made
  }

  @Test("a new transaction is announced to each target with ids, which only the device can read")
  func announces() async throws {
    let device = try await server.activate()
    let record = try await device.send(to: server)
    for address in ["desk", "couch"] { _ = try await targets.add(form(address), for: record) }
    let made = try await announce("Pay 99 EUR")
    let sent = recorder.sent
    #expect(Set(sent.map(\.1)) == [.webhook(address: "desk"), .webhook(address: "couch")])
    for (message, _) in sent {
      let payload = try PushPayload(decrypting: message.envelope, with: device.encryption)
      #expect(payload.transaction == made.id && payload.container == device.container)
      #expect(message.expires == made.expires && message.topic == made.id.text)
      #expect(throws: WireFailure.notAuthentic) {
        try PushPayload(decrypting: message.envelope, with: P256.KeyAgreement.PrivateKey())
      }
    }
  }

  @Test("a target that is gone is dropped unless the device changed it; temporary failures keep it")
  func drops() async throws {
    let record = try await server.activate().send(to: server)
    _ = try await targets.add(form("desk"), for: record)
    recorder.fail(.tryAgain(afterSeconds: nil, reason: "busy"))
    let made = try await announce()
    #expect(recorder.sent.count > 5)
    #expect(server.clock.now > made.created + 200)
    recorder.fail(.refused(reason: "no"))
    _ = try await announce()
    #expect(try await targets.list(for: record).targets.count == 1)
    recorder.fail(.targetGone)
    _ = try await announce()
    #expect(try await targets.list(for: record).targets.isEmpty)
    #expect(try await server.audit().contains { $0.contains("push.target.dropped") })
  }

  @Test("a target at a host, or a port, that the operator does not name is refused when it is added")
  func hosts() async throws {
    struct Nowhere: HTTPTransport {
      func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse { throw .cancelled }
    }
    let dispatcher = WebPushDispatcher(
      key: P256.Signing.PrivateKey(), contact: "mailto:a@example.org",
      hosts: WebPushHosts(["push.example.org"]),
      over: Nowhere())
    let server = try ServerFixture(push: PushSetup(delivery: PushDelivery([dispatcher])))
    let record = try await server.activate().send(to: server)
    func add(_ host: String) async throws -> Problem.Code? {
      let subscription = try WebPushSubscription(
        endpoint: "https://\(host)/x", key: P256.KeyAgreement.PrivateKey().publicKey,
        secret: [UInt8](repeating: 1, count: 16))
      let target = PushTarget.webPush(subscription)
      let form = try PushTargetForm(name: "", target: target)
      return try await problem { try await PushTargetService(server.context).add(form.bytes, for: record) }
    }
    #expect(try await add("push.example.org") == nil)
    for host in ["push.example.org:81", "10.0.0.1", "localhost", "evil-push.example.org"] {
      #expect(try await add(host) == .malformed)
    }
  }

  @Test(
    "decided transactions are not announced again, and each user has at most eight announcements in progress")
  func bounded() async throws {
    let device = try await server.activate()
    let record = try await device.send(to: server)
    _ = try await targets.add(form("desk"), for: record)
    recorder.fail(.tryAgain(afterSeconds: nil, reason: "busy"))
    let made = try await server.transactions.create(
      "Pay", user: UserID("alice"), lifetime: nil, by: .key("test"))
    try await server.transactions.withdraw(made.id, reason: "", by: .key("test"))
    let sender = PushSender(server.context)
    // All are announced before one finishes: each waits for the gate.
    let gate = Gate()
    recorder.hold(gate)
    for _ in 1...20 { sender.announce(TransactionAnnouncement(made)) }
    gate.open()
    await sender.finish()
    // One attempt for each accepted push, and none later: the transaction has ended.
    #expect(recorder.sent.count == 8)
    #expect(server.capture.lines.count { $0.contains("push.skipped") } == 12)
  }

  @Test(
    "a locked container removes its targets and adds none; the request of a revoked one is refused before")
  func locked() async throws {
    let device = try await server.activate()
    let record = try await device.send(to: server)
    let ids = [
      try await targets.add(form("desk"), for: record), try await targets.add(form("couch"), for: record),
    ]
    let devices = DeviceService(server.context)
    let found = try #require(try await devices.holdings(of: UserID("alice")).devices.first)
    try await devices.lock(found.id, reason: "lost", by: .local)
    let path = "/main/v1/device/push-targets/"
    let locked = try await device.send(to: server, "DELETE", path + ids[0].text)
    try await targets.remove(ids[0], of: locked)
    #expect(try await problem { try await targets.add(form("attic"), for: locked) } == .containerLocked)
    #expect(try await targets.list(for: locked).targets.map(\.id) == [ids[1]])
    _ = try await server.users.revokeContainer(record.id, by: .local)
    #expect(
      try await problem { try await device.send(to: server, "DELETE", path + ids[1].text) }
        == .containerUnknown)
  }

  @Test("a revoked container gets no push")
  func revoked() async throws {
    let record = try await server.activate().send(to: server)
    _ = try await targets.add(form("desk"), for: record)
    _ = try await server.users.revokeContainer(record.id, by: .local)
    // Another device gets the request, and it has no target.
    _ = try await server.activate(device: 2)
    _ = try await announce()
    #expect(recorder.sent.isEmpty)
  }
}
