import BusFixture
import Foundation
import SignetLinux
import SignetTestKit
import SignetVault
import Testing

@Suite(
  "Screen lock and sleep with the real logind", .timeLimit(.minutes(10)),
  .enabled(if: LogindFixture.isPossible, "systemd-logind wants to be started by root"))
struct LogindScreenLockTests {
  /// An observer whose events a test takes one by one; taking an event releases logind.
  final class Observation: Sendable {
    private let events = AsyncStream<ScreenLockEvent>.makeStream()
    private let task: Task<Result<Void, ScreenLockFailure>, Never>

    init(_ address: String) {
      let observer = LogindScreenLock(address: address)
      let continuation = events.continuation
      task = Task {
        do throws(ScreenLockFailure) {
          try await observer.observe { continuation.yield($0) }
          return .success(())
        } catch { return .failure(error) }
      }
    }

    deinit { task.cancel() }

    func next() async -> ScreenLockEvent? {
      var iterator = events.stream.makeAsyncIterator()
      return await iterator.next()
    }

    func cancel() { task.cancel() }
    func end() async -> Result<Void, ScreenLockFailure> { await task.value }
  }

  @Test("without a bus or logind the lock state is not available")
  func notCapable() async throws {
    let folder = try TemporaryFolder()
    let bus = try PrivateBus()
    for address in ["unix:path=\(folder.file("none"))", bus.address] {
      await #expect(throws: ScreenLockFailure.notCapable) {
        try await LogindScreenLock(address: address).observe { _ in }
      }
    }
  }

  @Test("lock and unlock requests of a session are reported")
  func lock() async throws {
    let logind = try await LogindFixture()
    let observation = Observation(logind.bus.address)
    #expect(await observation.next() == .watching(locked: false))
    try await logind.manager("LockSession", .text("own"))
    #expect(await observation.next() == .locked)
    try await logind.manager("UnlockSession", .text("own"))
    #expect(await observation.next() == .unlocked)
    try await logind.manager("LockSessions")
    #expect(await observation.next() == .locked)
  }

  @Test("a locked screen is reported, also to later observers")
  func lockedHint() async throws {
    let logind = try await LogindFixture()
    let observation = Observation(logind.bus.address)
    #expect(await observation.next() == .watching(locked: false))
    try await logind.session("own", "SetLockedHint", .flag(true))
    #expect(await observation.next() == .locked)
    let later = Observation(logind.bus.address)
    #expect(await later.next() == .watching(locked: true))
    try await logind.session("own", "SetLockedHint", .flag(false))
    #expect(await observation.next() == .unlocked)
  }

  @Test("another user's screen lock is ignored")
  func otherUser() async throws {
    let logind = try await LogindFixture()
    let observation = Observation(logind.bus.address)
    #expect(await observation.next() == .watching(locked: false))
    try await logind.manager("LockSession", .text("other"))
    try await logind.manager("UnlockSession", .text("own"))
    #expect(await observation.next() == .unlocked)
  }

  @Test("sleep waits for the reaction, and so does the next one")
  func sleep() async throws {
    let logind = try await LogindFixture()
    let observer = LogindScreenLock(address: logind.bus.address)
    let events = AsyncStream<ScreenLockEvent>.makeStream()
    let (go, wipe) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await observer.observe { event in
        events.continuation.yield(event)
        if event == .willSleep { for await _ in go { break } }
      }
    }
    var iterator = events.stream.makeAsyncIterator()
    #expect(await iterator.next() == .watching(locked: false))
    for _ in 1...2 {
      try await logind.manager("Suspend", .flag(false))
      #expect(await iterator.next() == .willSleep)
      #expect(try await logind.isHeldBack())
      wipe.yield()
      #expect(await logind.systemd.nextUnit { $0 == "suspend.target" } == "suspend.target")
      #expect(await iterator.next() == .woke)
    }
    task.cancel()
    _ = await task.result
  }

  @Test("a shutdown is reported in advance")
  func shutdown() async throws {
    let logind = try await LogindFixture()
    let observation = Observation(logind.bus.address)
    #expect(await observation.next() == .watching(locked: false))
    try await logind.manager("PowerOff", .flag(false))
    #expect(await observation.next() == .willShutDown)
    #expect(await logind.systemd.nextUnit { $0 == "poweroff.target" } == "poweroff.target")
  }

  @Test("a cancelled observer returns and releases its inhibitor")
  func cancel() async throws {
    let logind = try await LogindFixture()
    let observation = Observation(logind.bus.address)
    _ = await observation.next()
    #expect(try await logind.isHeldBack())
    observation.cancel()
    guard case .success = await observation.end() else {
      Issue.record("it threw")
      return
    }
    // logind detects the closed descriptor with a delay; each query gives it time.
    for _ in 1...1_000 where try await logind.isHeldBack() == false { return }
    Issue.record("it still holds sleep back")
  }

  @Test("a killed logind or bus is a failure", arguments: [false, true])
  func killed(_ bus: Bool) async throws {
    let logind = try await LogindFixture()
    let observation = Observation(logind.bus.address)
    _ = await observation.next()
    if bus { logind.bus.kill() } else { logind.logind.kill() }
    guard case .failure(.connectionLost) = await observation.end() else {
      Issue.record("it did not throw")
      return
    }
  }

  @Test("signals not sent by logind are ignored")
  func forged() async throws {
    let logind = try await LogindFixture()
    let observation = Observation(logind.bus.address)
    _ = await observation.next()
    try await logind.bus.run { bus throws(BusFailure) in
      for number in 0..<64 {
        try bus.emit(
          "/org/freedesktop/login1/session/own", "org.freedesktop.login1.Session", "Lock", [],
          to: ":1.\(number)")
      }
    }
    try await logind.manager("UnlockSession", .text("own"))
    #expect(await observation.next() == .unlocked)
  }
}
