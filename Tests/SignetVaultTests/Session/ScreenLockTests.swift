import SignetTesting
import SignetVault
import Testing

struct ScreenLockTests {
  @Test("a session locks with the screen, before and after sleep, and before shutdown")
  func events() async throws {
    let screen = SimulatedScreenLock()
    let reasons = Recorder<LockReason>()
    let task = Task { try await screen.locking { reasons.record($0) } }
    let events: [(ScreenLockEvent, LockReason?)] = [
      (.locked, .screenLocked), (.unlocked, nil), (.willSleep, .suspended), (.woke, .suspended),
      (.willShutDown, .ending), (.watching(locked: true), .screenLocked), (.watching(locked: false), nil),
    ]
    var expected: [LockReason] = []
    for (event, reason) in events {
      await screen.send(event)
      if let reason { expected.append(reason) }
      #expect(reasons.entries == expected, "\(event)")
    }
    task.cancel()
    _ = await task.result
  }

  @Test("the session locks when the screen's state is unknown")
  func failure() async {
    let screen = SimulatedScreenLock()
    let reasons = Recorder<LockReason>()
    screen.fail(.connectionLost("gone"))
    await #expect(throws: ScreenLockFailure.connectionLost("gone")) {
      try await screen.locking { reasons.record($0) }
    }
    #expect(reasons.entries == [.unobserved])
  }
}
