import Dispatch
import Synchronization

/// Runs guards on threads of this process that may block, each for its time.
final class GuardThreads: Sendable {
  /// Guards that have not come back: a stuck one must not take a thread more with every evaluation.
  private let absent = Mutex<Set<String>>([])

  /// What a guard finds, or that it does not come back in time.
  func run(_ sentry: any Guard) async -> [Evidence] {
    let name = sentry.name
    guard absent.withLock({ $0.insert(name).inserted }) else {
      return [Evidence(.slowGuard, "the guard \(name) has not come back since an earlier look")]
    }
    // A child is ended by who waits for it, and tried again.
    let limit = sentry.placement.limit
    let patience =
      switch sentry.placement {
      case .inProcess: limit
      case .child: limit * 5 + .seconds(2)
      }
    return await withCheckedContinuation { continuation in
      let answer = Answer(continuation)
      let (seconds, attoseconds) = patience.components
      let nanoseconds = Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
      DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
        answer.give([Evidence(.slowGuard, "the guard \(name) took longer than \(patience)")])
      }
      DispatchQueue(label: "signet.guard.\(name)").async { [self] in
        let evidence = Self.look(sentry)
        _ = absent.withLock { $0.remove(name) }
        answer.give(evidence)
      }
    }
  }

  private static func look(_ sentry: any Guard) -> [Evidence] {
    #if os(Linux)
      if case .child(let limit) = sentry.placement { return GuardChild.run(sentry, limit: limit) }
    #endif
    do { return try sentry.examine() } catch {
      return [Evidence(.failedGuard, "the guard \(sentry.name) could not look: \(error)")]
    }
  }

  /// Goes to the one who waits, once.
  private final class Answer: Sendable {
    private let waiting: Mutex<CheckedContinuation<[Evidence], Never>?>

    init(_ continuation: CheckedContinuation<[Evidence], Never>) { waiting = Mutex(continuation) }

    func give(_ evidence: [Evidence]) {
      let continuation = waiting.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }
      continuation?.resume(returning: evidence)
    }
  }
}
