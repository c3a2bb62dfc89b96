// The rate limit of a client's polls for tokens (CIBA sections 7.3 and 11, `docs/protocol.md` section 11.3).
extension Model {
  /// The polling interval of a request and the time of its last poll.
  struct Pace: Hashable, Sendable {
    /// The minimum time between two polls, in seconds.
    var interval: Int64 = 5
    var last: Int64?
  }

  /// Each poll that comes too early adds the step to the interval, up to the longest; both in seconds.
  private static let (intervalStep, longestInterval): (Int64, Int64) = (5, 60)

  /// Applies a poll of a pending request.
  ///
  /// - Returns: `pending`, or `slow down` with the new interval.
  package mutating func pace(_ request: String, at time: Int64) -> String {
    var pace = paces[request] ?? Pace()
    defer { paces[request] = pace }
    // Two clocks in whole seconds may differ by one second, which must not cause `slow_down`.
    let isTooSoon = pace.last.map { $0 <= time && time < $0 + pace.interval - 1 } ?? false
    pace.last = time
    guard isTooSoon, missing != .pollsWait else { return "pending" }
    pace.interval = min(pace.interval + Self.intervalStep, Self.longestInterval)
    return "slow down \(pace.interval)"
  }
}
