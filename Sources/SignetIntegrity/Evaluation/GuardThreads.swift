import SignetSystem

/// Runs guards on threads of this process that may block, each with a time limit.
final class GuardThreads: Sendable {
  private let runner: BoundedRunner

  /// - Parameter clock: The clock of the time limits.
  init(clock: any Clock<Duration>) { runner = BoundedRunner(label: "signet.guard", clock: clock) }

  /// Returns the findings of a guard, or a finding that it exceeded its limit.
  func run(_ sentry: any Guard) async -> [Evidence] {
    let name = sentry.name
    // A child is killed and retried by the waiting thread, so its limit applies several times.
    let limit = sentry.placement.limit
    let timeLimit =
      switch sentry.placement {
      case .inProcess: limit
      case .child: limit * 5 + .seconds(2)
      }
    let examination = runner.begin(
      name,
      whereBusy: [Evidence(.slowGuard, "the guard \(name) is still running since an earlier check")]
    ) { Self.examine(sentry) }
    return await runner.answers(
      to: [examination], within: timeLimit,
      whereLate: [Evidence(.slowGuard, "the guard \(name) took longer than \(timeLimit)")]
    ).flatMap { $0 }
  }

  private static func examine(_ sentry: any Guard) -> [Evidence] {
    #if os(Linux)
      if case .child(let limit) = sentry.placement { return GuardChild.run(sentry, limit: limit) }
    #endif
    do { return try sentry.examine() } catch {
      return [Evidence(.failedGuard, "the guard \(sentry.name) could not run: \(error)")]
    }
  }
}
