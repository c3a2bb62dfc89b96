import SignetConcurrency

/// Runs guards on threads of this process that may block, each for its time.
final class GuardThreads: Sendable {
  private let runner: BoundedRunner

  /// - Parameter clock: What the time of guards is measured by.
  init(clock: any Clock<Duration>) { runner = BoundedRunner(label: "signet.guard", clock: clock) }

  /// What a guard finds, or that it does not come back in time.
  func run(_ sentry: any Guard) async -> [Evidence] {
    let name = sentry.name
    // A child is ended by who waits for it, and tried again.
    let limit = sentry.placement.limit
    let patience =
      switch sentry.placement {
      case .inProcess: limit
      case .child: limit * 5 + .seconds(2)
      }
    let look = runner.begin(
      name,
      whereBusy: [Evidence(.slowGuard, "the guard \(name) has not come back since an earlier look")]
    ) { Self.look(sentry) }
    return await runner.answers(
      to: [look], within: patience,
      whereLate: [Evidence(.slowGuard, "the guard \(name) took longer than \(patience)")]
    ).flatMap { $0 }
  }

  private static func look(_ sentry: any Guard) -> [Evidence] {
    #if os(Linux)
      if case .child(let limit) = sentry.placement { return GuardChild.run(sentry, limit: limit) }
    #endif
    do { return try sentry.examine() } catch {
      return [Evidence(.failedGuard, "the guard \(sentry.name) could not look: \(error)")]
    }
  }
}
