import SignetStorage
import Testing

/// The lifetime of deliveries to receivers, and their retries.
@Suite struct OutboxDeliveryRulesTests {
  private static let receiver = OutboxReceiver(.securityEvents, "r")
  private static let event = OutboxEvent(.userSuspended, of: "~alice", user: "~alice")

  /// A delivery of an event at 1000 that expires at 1100.
  private static func delivery(after attempts: Int = 0) -> OutboxRecord {
    var delivery = OutboxSubscription(receiver, lifetime: 100).delivery(of: event, at: 1000)
    delivery.attempts = attempts
    return delivery
  }

  @Test("an event is due at once, and expires after the lifetime")
  func delivery() {
    let delivery = Self.delivery()
    #expect((delivery.receiver, delivery.event) == (Self.receiver, Self.event))
    #expect((delivery.created, delivery.due, delivery.expires) == (1000, 1000, 1100))
    #expect(delivery.attempts == 0 && !delivery.isAltered)
  }

  @Test(
    "a lifetime is bounded to 0 to 30 days",
    arguments: [
      (0, 0), (1, 1), (-1, 0), (.min, 0), (2_591_999, 2_591_999), (2_592_000, 2_592_000),
      (2_592_001, 2_592_000), (.max, 2_592_000),
    ] as [(Int64, Int64)])
  func lifetimes(_ stored: Int64, _ lifetime: Int64) {
    #expect(OutboxSubscription(Self.receiver, lifetime: stored).lifetime == lifetime)
  }

  @Test(
    "the attempt number increases by one; an invalid number becomes 1",
    arguments: [
      (0, 1), (1, 2), ((1 << 20) - 1, 1 << 20), (1 << 20, 1), (.max, 1), (-1, 1), (.min, 1),
    ] as [(Int, Int)])
  func attempts(_ before: Int, _ attempt: Int) {
    var expected = Self.delivery(after: attempt)
    expected.due = 1060
    #expect(Self.delivery(after: before).leased(until: 1060) == expected)
  }

  @Test("an event is delivered until the last second of its lifetime")
  func inTime() {
    for (time, isInTime) in [(1000, true), (1099, true), (1100, true), (1101, false)] as [(Int64, Bool)] {
      #expect(Self.delivery().isInTime(at: time) == isInTime, "at \(time)")
    }
  }

  @Test(
    "a delivery is dropped if the next attempt would be too late",
    arguments: [
      (1000, 0, 1000), (1000, 32, 1032), (1000, 99, 1099), (1000, 100, 1100), (1000, 101, nil),
      (1099, 1, 1100), (1100, 0, 1100), (1100, 1, nil), (1101, 0, nil),
    ] as [(Int64, Int64, Int64?)])
  func nextAttempts(time: Int64, wait: Int64, next: Int64?) {
    #expect(Self.delivery(after: 3).nextAttempt(after: wait, at: time) == next)
  }
}
