import PostgreSQLFixture
import SignetProtocol
import SignetServer
import SignetServerTesting
import SignetSQLite
import SignetStorage
import SignetTesting
import Synchronization
import Testing

/// Each change enters the outbox, and is delivered in order, with retries, until it is acknowledged or too old.
@Suite(.timeLimit(.minutes(10))) struct OutboxTests {
  /// Receivers that acknowledge each delivery, unless they have another answer.
  private final class Receivers: OutboxDelivery {
    private struct State {
      var attempts: [String] = []
      var outcomes: [String: [DeliveryOutcome]] = [:]
    }

    let channel = OutboxChannel.securityEvents
    private let state = Mutex(State())

    /// The receiver and subject of each attempt.
    var attempts: [String] { state.withLock { $0.attempts } }

    /// Sets the outcomes of a receiver's next attempts; later ones are acknowledged.
    func answer(_ outcomes: DeliveryOutcome..., of receiver: String) {
      state.withLock { $0.outcomes[receiver] = outcomes }
    }

    func hasReceivers() async throws(StorageFailure) -> Bool { true }

    func attempt(_ record: OutboxRecord) async throws -> DeliveryOutcome {
      state.withLock { state in
        state.attempts.append("\(record.receiver.id) \(record.event.kind)")
        guard var outcomes = state.outcomes[record.receiver.id], !outcomes.isEmpty else {
          return .acknowledged
        }
        defer { state.outcomes[record.receiver.id] = outcomes }
        return outcomes.removeFirst()
      }
    }

    func event(of record: OutboxRecord, failure: String?) -> AuditEvent? {
      failure.map { .clientNotNotified(client: "\(record.receiver.id)", transaction: "", reason: $0) }
    }
  }

  private let server: ServerFixture
  private let receivers = Receivers()
  private let sender: OutboxSender

  init() throws {
    server = try ServerFixture()
    sender = OutboxSender(server.context, [receivers])
  }

  private func add(_ receivers: String..., lifetime: Int64 = 100) async throws {
    for id in receivers {
      try await server.context.storage.addOutboxReceiver(
        OutboxReceiver(.securityEvents, id), lifetime: lifetime)
    }
  }

  /// Adds alice and two of her events.
  private func suspendAndResume() async throws {
    let alice = UserID("alice")
    try await server.users.add(alice, by: .local)
    _ = try await server.users.suspend(alice, reason: "left", by: .local)
    _ = try await server.users.resume(alice, by: .local)
  }

  @Test("each change of an account, device or authenticator is an event for receivers of all events")
  func changes() async throws {
    try await add("a")
    let device = try await server.activate()
    let alice = UserID("alice")
    let id = try #require(try await server.context.storage.devices(user: "alice").first).id
    let devices = DeviceService(server.context)
    _ = try await devices.lock(id, reason: "lost", by: .local)
    _ = try await devices.unlock(id, by: .local)
    _ = try await server.users.suspend(alice, reason: "left", by: .local)
    _ = try await server.users.resume(alice, by: .local)
    _ = try await server.users.revokeContainer(#require(device.container), by: .local)
    _ = try await server.users.delete(alice, by: .local)
    await sender.sendDue()
    #expect(
      receivers.attempts == [
        "a authenticatorBound", "a deviceLocked", "a deviceUnlocked", "a userSuspended", "a userResumed",
        "a authenticatorRevoked", "a userDeleted",
      ])
    #expect(
      try await server.context.storage.dueDeliveries(on: .securityEvents, at: .max, limitPerReceiver: 9)
        .isEmpty)
  }

  @Test("an event refused by its receiver waits longer each time, and delays only events to that receiver")
  func order() async throws {
    try await add("a", "b")
    receivers.answer(
      .again(after: nil, "1"), .again(after: nil, "2"), .again(after: 9, "3"), .again(after: nil, "4"),
      of: "a")
    try await suspendAndResume()
    await sender.sendDue()
    #expect(
      receivers.attempts.sorted() == ["a userSuspended", "b userResumed", "b userSuspended"])
    #expect(receivers.attempts.filter { $0.hasPrefix("b") } == ["b userSuspended", "b userResumed"])
    var waits: [Int64] = []
    var waited: Int64 = 0
    while receivers.attempts.count < 8 {
      let before = receivers.attempts.count
      server.clock.advance(by: 1)
      waited += 1
      await sender.sendDue()
      guard receivers.attempts.count > before else { continue }
      waits.append(waited)
      waited = 0
    }
    #expect(waits == [1, 2, 9, 8])
    #expect(
      receivers.attempts.suffix(5) == [
        "a userSuspended", "a userSuspended", "a userSuspended", "a userSuspended", "a userResumed",
      ])
  }

  @Test("an expired or finally refused event is dropped, and the next event follows")
  func givesUp() async throws {
    try await add("a", "b", lifetime: 5)
    receivers.answer(.failed("status 400"), of: "a")
    receivers.answer(.again(after: 60, "busy"), of: "b")
    try await suspendAndResume()
    await sender.sendDue()
    #expect(receivers.attempts.count == 4)
    #expect(try await server.audit().count { $0.contains("status 400") || $0.contains("busy") } == 2)
    try await add("c", lifetime: 5)
    _ = try await server.users.suspend(UserID("alice"), reason: "left", by: .local)
    server.clock.advance(by: 6)
    await sender.sendDue()
    #expect(receivers.attempts.count == 4)
    #expect(try await server.audit().count { $0.contains("too late") } == 3)
  }

  @Test(
    "a forged outbox row is dropped and does not block others",
    arguments: [
      "code = x'00'", "event = 'x'", "authenticator = 'x'", "attempts = 9223372036854775807", "attempts = -1",
    ])
  func alteredRows(_ change: String) async throws {
    let server = try ServerFixture(on: .sqlite)
    let sender = OutboxSender(server.context, [receivers])
    for id in ["a", "b"] {
      try await server.context.storage.addOutboxReceiver(OutboxReceiver(.securityEvents, id), lifetime: 100)
    }
    let alice = UserID("alice")
    try await server.users.add(alice, by: .local)
    _ = try await server.users.suspend(alice, reason: "", by: .local)
    let database = try Database(path: server.folder.file("signet.sqlite"), mode: .readWrite)
    try database.execute("UPDATE outbox SET \(change) WHERE receiver = 'a'")
    _ = try await server.users.resume(alice, by: .local)
    await sender.sendDue()
    #expect(Set(receivers.attempts) == ["a userResumed", "b userSuspended", "b userResumed"])
    #expect(server.capture.lines.count { $0.contains("outbox.altered") } == 1)
  }
}
