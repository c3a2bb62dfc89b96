/// The time since a server was made, by which its deadlines are.
struct ServerTime: Sendable {
  private let clock: any Clock<Duration>
  private let elapsed: @Sendable () -> Duration

  /// Begins now, by this clock.
  init(_ clock: any Clock<Duration>) {
    self.clock = clock
    // Compiled for the clock that a server has: each request asks it several times.
    elapsed =
      if let clock = clock as? ContinuousClock { Self.elapsed(on: clock) } else { Self.elapsed(on: clock) }
  }

  private static func elapsed<Source: Clock<Duration>>(on clock: Source) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  /// How much has passed.
  var now: Duration { elapsed() }

  /// Waits for so long.
  ///
  /// - Throws: `CancellationError` in a cancelled task.
  func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}
