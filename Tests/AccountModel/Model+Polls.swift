// How often a client may ask for tokens (CIBA sections 7.3 and 11, `docs/protocol.md` section 11.3).
extension Model {
  /// How a client keeps to the interval of a request.
  struct Pace: Hashable, Sendable {
    /// The least time between two polls, in seconds.
    var interval: Int64 = 5
    var last: Int64?
  }

  /// With each poll that comes too soon the interval is so many seconds longer, up to a minute.
  private static let (intervalStep, longestInterval): (Int64, Int64) = (5, 60)

  /// Takes a poll of a request that waits.
  ///
  /// - Returns: `pending`, or `slow down` and the interval from now on.
  package mutating func pace(_ request: String, at time: Int64) -> String {
    var pace = paces[request] ?? Pace()
    defer { paces[request] = pace }
    // Two clocks may differ, and each has whole seconds: nobody is told to slow down for one of them.
    let isTooSoon = pace.last.map { $0 <= time && time < $0 + pace.interval - 1 } ?? false
    pace.last = time
    guard isTooSoon, missing != .pollsWait else { return "pending" }
    pace.interval = min(pace.interval + Self.intervalStep, Self.longestInterval)
    return "slow down \(pace.interval)"
  }
}
