import SignetPolicy
import Testing

import SignetVault

struct SessionLimitsTests {
  /// The time a number of seconds after the beginning.
  private func later(
    _ seconds: Int64, asleep milliseconds: Int64 = 0, wall: Int64? = nil, run: UInt64 = 1
  ) -> TrustedTime {
    TrustedTime(
      boot: BootInstant(
        bootID: BootID(high: 0, low: run), millisecondsSinceBoot: 2_000_000 + seconds * 1_000),
      millisecondsAwake: 1_990_000 + seconds * 1_000 - milliseconds, wallSeconds: wall ?? 1_000 + seconds)
  }

  private func verdict(
    _ limits: SessionLimits, used: Int64 = 0, seen: Int64? = nil, _ now: TrustedTime
  ) -> SessionLimits.Verdict {
    var times = SessionTimes(later(0))
    times.used = later(used)
    times.seen = later(seen ?? used)
    return limits.verdict(times, now)
  }

  @Test("the age counts from the authentication, not from the last use", arguments: [0, 59])
  func age(used: Int64) {
    let limits = SessionLimits(idleTimeout: nil, maximumAge: .seconds(60))
    #expect(verdict(limits, used: used, later(59)) == .stay(for: .seconds(1)))
    #expect(verdict(limits, used: used, later(60)) == .lock(.tooOld))
    #expect(verdict(limits, used: used, later(1_000_000)) == .lock(.tooOld))
  }

  @Test("idleness counts from the last use, not from the last look")
  func idleness() {
    let limits = SessionLimits(idleTimeout: .seconds(10), maximumAge: nil)
    #expect(verdict(limits, used: 30, seen: 38, later(39)) == .stay(for: .seconds(1)))
    #expect(verdict(limits, used: 30, seen: 38, later(40)) == .lock(.idle))
    #expect(verdict(limits, used: 30, later(30)) == .stay(for: .seconds(5)))
  }

  @Test("without limits a session stays, and is checked every few seconds")
  func unlimited() {
    let limits = SessionLimits(idleTimeout: nil, maximumAge: nil)
    #expect(verdict(limits, later(1_000_000)) == .stay(for: .seconds(5)))
  }

  @Test("age has precedence over idleness")
  func order() {
    let limits = SessionLimits(idleTimeout: .seconds(10), maximumAge: .seconds(10))
    #expect(verdict(limits, later(10)) == .lock(.tooOld))
  }

  @Test("a sleep locks, however short beyond a second")
  func sleep() {
    let limits = SessionLimits(idleTimeout: nil, maximumAge: nil)
    #expect(verdict(limits, later(5, asleep: 1_000)) == .stay(for: .seconds(5)))
    #expect(verdict(limits, later(5, asleep: 1_001)) == .lock(.suspended))
  }

  @Test("a wall clock that was set locks", arguments: [11, -11, 86_400 * 3650, -86_400 * 3650, .max, .min])
  func wallClock(step: Int64) {
    let limits = SessionLimits(idleTimeout: nil, maximumAge: nil)
    let wall = later(5).wallSeconds.addingReportingOverflow(step).partialValue
    #expect(verdict(limits, later(5, wall: wall)) == .lock(.clockJumped))
  }

  @Test("a wall clock that is corrected a little does not lock", arguments: [10, -10, 1, 0])
  func correctedWallClock(step: Int64) {
    let now = later(5, wall: later(5).wallSeconds + step)
    #expect(verdict(SessionLimits(idleTimeout: nil, maximumAge: nil), now) == .stay(for: .seconds(5)))
  }

  @Test("clocks that run backwards lock")
  func backwards() {
    let limits = SessionLimits.standard
    #expect(verdict(limits, later(-1)) == .lock(.clockJumped))
    #expect(verdict(limits, later(5, asleep: 5_001)) == .lock(.clockJumped))
  }

  @Test("a restarted machine locks at any clock value")
  func restarted() { #expect(verdict(.standard, later(5, run: 2)) == .lock(.clockJumped)) }

  @Test("limits out of bounds become the nearest bound")
  func bounds() {
    let limits = SessionLimits(idleTimeout: .zero, maximumAge: .seconds(1 << 40))
    #expect(limits.idleTimeout == .seconds(1))
    #expect(limits.maximumAge == .seconds(30 * 86_400))
  }
}
