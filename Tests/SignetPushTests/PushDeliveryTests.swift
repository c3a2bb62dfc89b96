import SignetProtocol
import SignetPush
import SignetTesting
import Synchronization
import Testing

@Suite("Push delivery", .timeLimit(.minutes(10)))
struct PushDeliveryTests {
  /// A dispatcher with scripted failures in order, and then success.
  private final class Script: PushDispatcher {
    let service = PushTarget.Service.webhook
    private let failures: Mutex<[PushFailure]>
    private let count = Mutex(0)

    init(_ failures: [PushFailure]) { self.failures = Mutex(failures) }

    var attempts: Int { count.withLock { $0 } }

    func send(_ message: PushMessage, to target: PushTarget) async throws(PushFailure) {
      count.withLock { $0 += 1 }
      let failure = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let failure { throw failure }
    }
  }

  private static let busy = PushFailure.tryAgain(afterSeconds: nil, reason: "busy")
  private static let target = PushTarget.webhook(address: "a")

  /// Delivers with a script; returns the outcome and the waits.
  private func deliver(
    _ failures: [PushFailure], lifetime: Int64 = 300
  ) async -> (outcome: PushOutcome, waits: [Int64], attempts: Int) {
    let clock = VirtualClock()
    let script = Script(failures)
    let waits = Mutex<[Int64]>([])
    let delivery = PushDelivery([script], clock: clock) { (duration) async throws(CancellationError) in
      waits.withLock { $0.append(duration.components.seconds) }
      clock.advance(by: duration.components.seconds)
    }
    let message = PushMessage(envelope: "x", topic: "t", expires: clock.now + lifetime)
    let outcome = await delivery.deliver(message, to: Self.target)
    return (outcome, waits.withLock { $0 }, script.attempts)
  }

  @Test("temporary failures are retried with waits up to 32 s")
  func backoff() async {
    let result = await deliver(Array(repeating: Self.busy, count: 8))
    #expect(result.outcome == .accepted)
    #expect(result.waits == [1, 2, 4, 8, 16, 32, 32, 32])
  }

  @Test("a longer retry time of the service is respected")
  func retryAfter() async {
    let result = await deliver([
      .tryAgain(afterSeconds: 7, reason: "busy"), .tryAgain(afterSeconds: 1, reason: "busy"),
    ])
    #expect(result.outcome == .accepted)
    #expect(result.waits == [7, 2])
  }

  @Test("retries end if the next one would be after the message's expiry")
  func expiry() async {
    let result = await deliver(Array(repeating: Self.busy, count: 100), lifetime: 10)
    #expect(result.outcome == .failed(Self.busy))
    #expect(result.waits == [1, 2, 4])
    let late = await deliver([], lifetime: 0)
    #expect(late.outcome == .expired)
    #expect(late.attempts == 0)
  }

  @Test("a removed target and a permanent refusal are tried once")
  func onceOnly() async {
    #expect(await deliver([.targetGone]).outcome == .targetGone)
    let refused = PushFailure.refused(reason: "no")
    let result = await deliver([refused])
    #expect(result.outcome == .failed(refused))
    #expect(result.attempts == 1)
  }

  @Test("a service that is not configured is not contacted")
  func noDispatcher() async {
    let message = PushMessage(envelope: "x", topic: "t", expires: .max)
    #expect(await PushDelivery([]).deliver(message, to: Self.target) == .failed(.targetNotAllowed))
  }
}
