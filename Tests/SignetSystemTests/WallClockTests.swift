import Foundation
import SignetSystem
import Testing

@Suite(.timeLimit(.minutes(1))) struct WallClockTests {
  /// The time of the most exact clock, with nanoseconds.
  private static var exact: timespec {
    var time = timespec()
    #expect(clock_gettime(CLOCK_REALTIME, &time) == 0)
    return time
  }

  @Test("the system's clock is never behind another reading of it")
  func isExact() async throws {
    let before = Self.exact
    try await Task.sleep(for: .nanoseconds(max(0, 995_000_000 - before.tv_nsec)))
    for _ in 0..<2_000_000 {
      let earlier = Self.exact
      let now = SystemWallClock().now
      try #require(now >= Int64(earlier.tv_sec), "\(earlier.tv_nsec) ns after the second")
      if earlier.tv_sec > before.tv_sec, earlier.tv_nsec > 10_000_000 { return }
    }
  }
}
