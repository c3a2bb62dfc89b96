/// The time since the creation of a server; its deadlines use it.
struct ServerTime: Sendable {
  private let clock: any Clock<Duration>
  private let elapsed: @Sendable () -> Duration

  init(_ clock: any Clock<Duration>) {
    self.clock = clock
    // A specialised closure for the usual clock: each request reads it several times.
    elapsed =
      if let clock = clock as? ContinuousClock { Self.elapsed(on: clock) } else { Self.elapsed(on: clock) }
  }

  private static func elapsed<Source: Clock<Duration>>(on clock: Source) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  var now: Duration { elapsed() }

  /// Waits for a duration.
  ///
  /// - Throws: `CancellationError` in a cancelled task.
  func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}
